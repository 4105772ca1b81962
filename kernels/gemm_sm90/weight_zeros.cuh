/// Zero points of the weights that a lane converts.
#pragma once

#include "arch/weights.hpp"
#include "gemm/zero_view.cuh"
#include "gemm_sm90/shape.cuh"
#include "gemm_sm90/zero_params.hpp"

namespace quarry::gemm_sm90 {

/// The zero points of a lane's two rows of weights in one group of K, as the conversion takes them: none.
template <Config config, bool are_there = has_zeros(config)>
class RowZeros {
  using T = Element<config.types.b>;
  static constexpr bool are_narrow = is_half_byte(config.types.a);

 public:
  QUARRY_DEVICE arch::ZeroPoint upper() const { return none(); }
  QUARRY_DEVICE arch::ZeroPoint lower() const { return none(); }

 private:
  QUARRY_DEVICE static arch::ZeroPoint none() {
    return are_narrow ? arch::no_row_zero<T> : arch::no_pair_zero<T>;
  }
};
template <Config config>
class RowZeros<config, true> {
  using T = Element<config.types.b>;
  static constexpr bool are_narrow = is_half_byte(config.types.a);

 public:
  RowZeros() = default;
  QUARRY_DEVICE RowZeros(unsigned upper, unsigned lower) : upper_(zero(upper)), lower_(zero(lower)) {}

  QUARRY_DEVICE arch::ZeroPoint upper() const { return upper_; }
  QUARRY_DEVICE arch::ZeroPoint lower() const { return lower_; }

 private:
  QUARRY_DEVICE static arch::ZeroPoint zero(unsigned number) {
    return are_narrow ? arch::row_zero<T>(number) : arch::pair_zero<T>(number);
  }

  arch::ZeroPoint upper_;
  arch::ZeroPoint lower_;
};

/// The zero points of a lane's two rows of weights: none.
template <Config config, bool are_there = has_zeros(config)>
class WeightZeros {
 public:
  QUARRY_DEVICE WeightZeros(const GemmScaleParams&, int, int, int, int) {}
  QUARRY_DEVICE RowZeros<config> at(int) const { return {}; }
};
template <Config config>
class WeightZeros<config, true> {
 public:
  /// @param row the upper one in the operand, which has `rows` @param k_end of the problem
  QUARRY_DEVICE WeightZeros(const ZeroedScaleParams& params, int batch, int row, int rows, int k_end)
      : view_(params.zeros.a, params.a, batch),
        upper_(row < rows ? row : rows - 1),
        lower_(row + 8 < rows ? row + 8 : rows - 1),
        k_end_(k_end) {}

  /// The zero points of the group that position `k` is in; behind the end of K: 0.
  QUARRY_DEVICE RowZeros<config> at(int k) const {
    if (k >= k_end_) return {0, 0};
    return {view_.at(upper_, k), view_.at(lower_, k)};
  }

 private:
  ZeroView view_;
  int upper_;
  int lower_;
  int k_end_;
};

}  // namespace quarry::gemm_sm90
