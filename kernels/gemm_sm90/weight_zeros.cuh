/// Zero points of the weights that a lane converts.
#pragma once

#include "gemm/zero_view.cuh"
#include "gemm_sm90/shape.cuh"
#include "gemm_sm90/zero_params.hpp"

namespace quarry::gemm_sm90 {

/// The zero points of a lane's two rows of weights in one group of K: none.
template <Config config, bool are_there = has_zeros(config)>
class RowZeros {
 public:
  QUARRY_DEVICE arch::MatrixFragment taken_off(const arch::MatrixFragment& weights) const { return weights; }
};
template <Config config>
class RowZeros<config, true> {
  using T = Element<config.types.b>;

 public:
  RowZeros() = default;
  QUARRY_DEVICE RowZeros(unsigned upper, unsigned lower) : of_{pair(upper), pair(lower)} {}

  /// Weights, which are times half_byte_unit, less the zero points of their rows.
  QUARRY_DEVICE arch::MatrixFragment taken_off(const arch::MatrixFragment& weights) const {
    arch::MatrixFragment less;
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) less.v[i] = arch::pair_less<T>(weights.v[i], of_[i % 2]);
    return less;
  }

 private:
  QUARRY_DEVICE static unsigned pair(unsigned zero) {
    const float value = static_cast<float>(zero) * arch::half_byte_unit<T>;
    return arch::pair_of<T>(value, value);
  }

  unsigned of_[2];
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
    if (k >= k_end_) return {};
    return {view_.at(upper_, k), view_.at(lower_, k)};
  }

 private:
  ZeroView view_;
  int upper_;
  int lower_;
  int k_end_;
};

}  // namespace quarry::gemm_sm90
