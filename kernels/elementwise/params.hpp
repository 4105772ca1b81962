/// What elementwise kernels are launched with: one struct by value, written by the host and read by the
/// device.
#pragma once

namespace quarry {

/// Tensors of an elementwise problem, at most, and extents of one.
inline constexpr int elementwise_tensors = 8;
inline constexpr int elementwise_extents = 4;

/// A tensor: inputs are read, outputs written. An input without data has one value.
struct ElementwiseTensor {
  const void* data;
  /// In elements, by extent; 0 where all share an element.
  long long strides[elementwise_extents];
  union {
    double value;    ///< a number of the tensor's type
    long long rows;  ///< of an input whose rows an index chooses: how many there are, along the third extent
  };
};

struct ElementwiseParams {
  /// The expression's inputs in its order, then its outputs.
  ElementwiseTensor tensors[elementwise_tensors];
  /// The innermost extent is the last one. Their product has 63 bits.
  long long extents[elementwise_extents];
};

}  // namespace quarry
