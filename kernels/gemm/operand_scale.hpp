/// Scales of the operands of a checked GEMM problem. Host only.
#pragma once

#include "common/config_parts.hpp"
#include "gemm/params.hpp"
#include "quarry/gemm.hpp"

namespace quarry {

/// Zero points of one operand: u8 values that are found as its scales are.
struct OperandZero {
  const void* data = nullptr;  ///< as OperandScale's
  long long line_stride = 0;
  long long k_stride = 0;
  long long batch_stride = 0;
  bool is_given = false;
};

/// The scales of one operand: f32 values by line (row of A, column of B) and block of K. Both operands are
/// walked alike, so that a problem is exchanged by exchanging them.
struct OperandScale {
  /// The first value; where batch_stride is pointer_array_stride, an array of such pointers, one for each
  /// batch entry. Null for a fake tensor.
  const void* data = nullptr;
  /// Elements from the value of one line, or of 128 lines, to the next; 0 where all lines share a value.
  long long line_stride = 0;
  /// Elements from one block of K to the next; 0 where all of K shares a value.
  long long k_stride = 0;
  long long batch_stride = 0;
  bool is_given = false;
  ScaleGranularity granularity = ScaleGranularity::tensor;
  OperandZero zero = {};  ///< of that granularity
};

/// The scales of both operands.
struct OperandScales {
  OperandScale a;
  OperandScale b;
};

constexpr bool is_pointer_array(const OperandScale& scale) {
  return scale.batch_stride == pointer_array_stride;
}
constexpr bool is_pointer_array(const OperandZero& zero) { return zero.batch_stride == pointer_array_stride; }

/// Whether one of the operands has zero points.
constexpr bool has_zeros(const OperandScales& scales) {
  return scales.a.zero.is_given || scales.b.zero.is_given;
}

/// Positions of K that share a scale where scales differ along K; of others, scale_block.
constexpr int k_positions(ScaleGranularity granularity) {
  if (granularity == ScaleGranularity::block_1x32) return 32;
  return granularity == ScaleGranularity::block_1x64 ? 64 : scale_block;
}

/// Whether scales change more often along K than every scale_block.
constexpr bool is_grouped(ScaleGranularity granularity) { return k_positions(granularity) < scale_block; }

/// Whether scales differ along K.
constexpr bool is_blocked(ScaleGranularity granularity) {
  return granularity == ScaleGranularity::block_1x128 || granularity == ScaleGranularity::block_128x128 ||
         is_grouped(granularity);
}

/// Whether sums are promoted every 128 of K, where some scale changes.
constexpr bool is_blocked(const OperandScales& scales) {
  return (scales.a.is_given && is_blocked(scales.a.granularity)) ||
         (scales.b.is_given && is_blocked(scales.b.granularity));
}

/// The type of the sums that an expression reads: f32 where scales of blocks make f32 of s32 sums.
constexpr DType expressed_type(DType accumulator, bool is_promoted) {
  return is_promoted ? compute_type(accumulator, DType::f32) : partial_type(accumulator);
}

/// Positions of K after which some scale may change.
constexpr int k_positions(const OperandScales& scales) {
  const int a = scales.a.is_given ? k_positions(scales.a.granularity) : scale_block;
  const int b = scales.b.is_given ? k_positions(scales.b.granularity) : scale_block;
  return a < b ? a : b;
}

/// The index of a value from the first one of its batch entry on, by strides of scales or of zero points.
/// @param line row of A, column of B
template <class Values>
constexpr long long index_of(ScaleGranularity granularity, const Values& values, long long line,
                             long long k) {
  const bool by_block = granularity == ScaleGranularity::block_128x128;
  return (by_block ? line / scale_block : line) * values.line_stride +
         k / k_positions(granularity) * values.k_stride;
}
constexpr long long index_of(const OperandScale& scale, long long line, long long k) {
  return index_of(scale.granularity, scale, line, k);
}

/// The same granularity as the transposed problem names it: rows and columns exchanged.
constexpr ScaleGranularity exchanged(ScaleGranularity granularity) {
  if (granularity == ScaleGranularity::row) return ScaleGranularity::column;
  return granularity == ScaleGranularity::column ? ScaleGranularity::row : granularity;
}

/// The scales of the transposed problem, whose A is the B of this one.
constexpr OperandScales exchanged(const OperandScales& scales) {
  OperandScales result = {scales.b, scales.a};
  for (OperandScale* const scale : {&result.a, &result.b}) scale->granularity = exchanged(scale->granularity);
  return result;
}

}  // namespace quarry
