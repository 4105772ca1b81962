/// What a convolution is launched with: one struct by value, written by the host and read by the device.
#pragma once

#include "common/divisor.hpp"
#include "gemm/params.hpp"

namespace quarry {

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

}  // namespace quarry
