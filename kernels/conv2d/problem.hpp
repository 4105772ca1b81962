/// A convolution after its arguments were checked: what families decide and launch by. Host only.
#pragma once

#include "conv2d/params.hpp"
#include "gemm/problem.hpp"

namespace quarry {

/// The product that a convolution is, and how its matrices lie in the tensors. Sizes of 0 are legal.
struct Conv2dProblem {
  Direction direction = Direction::fprop;
  /// A batch entry for each group. Its matrices describe tensors of rank 4, see Conv2dParams. Controls are
  /// not open: K is in one piece.
  GemmProblem product;
  Windows windows = {};
};

}  // namespace quarry
