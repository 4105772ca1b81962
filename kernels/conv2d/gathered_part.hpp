/// What a block reads of an operand that is gathered from a tensor.
#pragma once

#include "conv2d/places.hpp"

namespace quarry {

/// Lines from `extent_first` on along M or N, and of K from `k_first` on.
struct GatheredPart {
  const MatrixParams& tensor;
  long long group_offset;  ///< elements from the tensor's first to the group's first
  int extent_first;
  int extent_end;
  int k_first;
  int k_end;
};

}  // namespace quarry
