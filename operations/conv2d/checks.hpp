/// Checks of a convolution's arguments.
#pragma once

#include "operations/conv2d/problem.hpp"

namespace quarry::detail::conv2d {

/// What products are summed in.
DType accumulator_of(const Conv2dArguments& arguments);

}  // namespace quarry::detail::conv2d
