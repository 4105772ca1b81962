/// Expressions of convolutions: the product's, whose rows and columns are extents of the output.
#pragma once

#include "gemm/problem.hpp"
#include "quarry/conv2d.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::conv2d {

/// The expression of arguments that have one. Rows of its matrices are positions, or filters for wgrad.
GivenExpression given_expression(const Conv2dArguments& arguments);

/// Checks the expression and its tensors, or that there are no tensors without one.
/// @param accumulator of the sums. @pre A, B and `out` were checked
Status check_expression(const Conv2dArguments& arguments, DType accumulator);

}  // namespace quarry::detail::conv2d
