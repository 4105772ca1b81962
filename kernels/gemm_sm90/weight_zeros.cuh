/// Zero points of the weights that a lane converts.
#pragma once

#include "arch/weights.hpp"
#include "gemm/zero_view.cuh"
#include "gemm_sm90/row_values.cuh"
#include "gemm_sm90/shape.cuh"
#include "gemm_sm90/zero_params.hpp"

namespace quarry::gemm_sm90 {

/// The zero points of two rows of weights in one group of K, as conversions take them.
struct RowZeroPoints {
  arch::ZeroPoint upper;
  arch::ZeroPoint lower;
};

/// The same as they wait for their group, in few registers: none.
template <Config config, bool are_there = has_zeros(config)>
class RowZeros {
 public:
  QUARRY_DEVICE RowZeroPoints points() const {
    using T = Element<config.types.b>;
    constexpr arch::ZeroPoint none =
        is_half_byte(config.types.a) ? arch::no_row_zero<T> : arch::no_pair_zero<T>;
    return {none, none};
  }
};
template <Config config>
class RowZeros<config, true> {
  using T = Element<config.types.b>;

 public:
  RowZeros() = default;
  QUARRY_DEVICE RowZeros(unsigned upper, unsigned lower) : both_(upper | lower << 8) {}

  QUARRY_DEVICE RowZeroPoints points() const { return {point(both_ & 0xffu), point(both_ >> 8)}; }

 private:
  QUARRY_DEVICE static arch::ZeroPoint point(unsigned zero) {
    return is_half_byte(config.types.a) ? arch::row_zero<T>(zero) : arch::pair_zero<T>(zero);
  }

  unsigned both_;
};

/// The zero points of a lane's two rows of weights: none.
/// @tparam one_by_one as of RowValues
template <Config config, bool one_by_one, bool are_there = has_zeros(config)>
class WeightZeros {
 public:
  QUARRY_DEVICE WeightZeros(const GemmScaleParams&, int, int, int, int, int) {}
  QUARRY_DEVICE RowZeros<config> at(int) const { return {}; }
  QUARRY_DEVICE void skip(int) const {}
};
template <Config config, bool one_by_one>
class WeightZeros<config, one_by_one, true> {
 public:
  /// @param row the upper one in the operand, which has `rows` @param k of the first call @param k_end of the
  /// problem
  QUARRY_DEVICE WeightZeros(const ZeroedScaleParams& params, int batch, int row, int rows, int k, int k_end)
      : k_log2_(params.a.k_log2),
        k_end_(k_end),
        values_(ZeroView(params.zeros.a, params.a, batch).place(0, 0), params.zeros.a, params.a.lines_log2,
                row, rows, k >> params.a.k_log2) {}

  /// Those of the group that position `k` is in; behind the end of K: 0.
  QUARRY_DEVICE RowZeros<config> at(int k) {
    if (k >= k_end_) return {0, 0};
    const arch::Vector<unsigned char, 2> zeros = values_.at(k >> k_log2_);
    return {zeros.v[0], zeros.v[1]};
  }

  QUARRY_DEVICE void skip(int groups) { values_.skip(groups); }

 private:
  int k_log2_;
  int k_end_;
  RowValues<unsigned char, one_by_one> values_;
};

/// Whether 32 bits hold the place of each zero point.
template <Config config, class Params, class Work>
QUARRY_DEVICE bool zeros_span_little(const Params& params, const Work& work) {
  if constexpr (has_zeros(config)) {
    return spans_little(params.zeros.a, work.a().row + work.m(), work.k() >> params.a.k_log2);
  } else {
    return true;
  }
}

}  // namespace quarry::gemm_sm90
