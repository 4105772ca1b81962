/// What a convolution is launched with: one struct by value, written by the host and read by the device.
#pragma once

#include "common/long_slices.hpp"
#include "gemm/params.hpp"

namespace quarry {

/// A number that indices below 2^31 are divided by, with what makes of that a multiplication and a shift
/// (Granlund, Montgomery: Division by invariant integers using multiplication, 1994).
struct Divisor {
  int size;
  unsigned multiplier;
  unsigned shift;
};

/// @pre size >= 1
constexpr Divisor divisor_of(int size) {
  unsigned log2 = 0;
  while (1LL << log2 < size) ++log2;
  const auto by = static_cast<unsigned long long>(size);
  const unsigned long long power = 1ULL << (31 + log2);
  return {size, static_cast<unsigned>((power + by - 1) / by), 31 + log2};
}

/// index / divisor and the remainder. @pre index >= 0
struct Divided {
  int quotient;
  int rest;
};
constexpr Divided divide(int index, const Divisor& by) {
  const auto product = static_cast<unsigned long long>(static_cast<unsigned>(index)) * by.multiplier;
  const int quotient = static_cast<int>(product >> by.shift);
  return {quotient, index - quotient * by.size};
}

/// Windows along one axis.
struct WindowAxis {
  int extent;      ///< elements of what windows look at: of an image, in dgrad of the output's gradient
  Divisor places;  ///< windows, each with a place of its own: windows of the output, in dgrad of the image
  Divisor stride;  ///< from one place to the next
  int padding;
  int dilation;  ///< from one tap to the next
  Divisor taps;  ///< elements of the filter
};

/// How a convolution is a product of matrices (conv2d/places.hpp).
struct Windows {
  WindowAxis rows;
  WindowAxis columns;
  Divisor channels;  ///< of a tap: of a group of activations, in dgrad of filters
  bool flips;
  /// Elements from one group to the next in A and in B.
  long long group_a;
  long long group_b;
};

/// The product of a convolution, a batch entry for each group. MatrixParams describe tensors of rank 4: the
/// stride of the first extent is `batch_stride`, then come `row_stride` and `column_stride`. Elements along
/// the last extent are neighbours.
struct Conv2dParams : GemmParams {
  Windows windows;
};

/// The same of kernels whose operands move by the bulk tensor copy engine. C and the output are matrices, as
/// a GEMM's, and K is counted in whole K tiles, where each tap's channels begin with one.
struct TensorConv2dParams : TensorGemmParams {
  Windows windows;
  LongSlices longs;  ///< of a wgrad's K; the others have k_tiles_per_slice
};

}  // namespace quarry
