/// A matrix as kernels walk it. Plain constexpr C++, shared by host and device.
#pragma once

namespace quarry {

/// As a batch stride: the matrices of a batch lie anywhere, and an array holds their addresses.
inline constexpr long long pointer_array_stride = -1;

/// Where a matrix starts and how it is walked, in elements: from one row to the next, one column to the next,
/// one batch entry to the next. A stride of 0 broadcasts. Those of an interleaved matrix:
/// common/interleaved.hpp.
struct MatrixParams {
  /// The first element; where batch_stride is pointer_array_stride, an array of such pointers, one for each
  /// batch entry.
  const void* data;
  long long row_stride;
  long long column_stride;
  long long batch_stride;
};

/// Whether the matrices of a batch are found through an array of pointers.
constexpr bool is_pointer_array(const MatrixParams& m) { return m.batch_stride == pointer_array_stride; }

/// The same matrix seen as its transpose.
constexpr MatrixParams transposed(const MatrixParams& m) {
  return {m.data, m.column_stride, m.row_stride, m.batch_stride};
}

}  // namespace quarry
