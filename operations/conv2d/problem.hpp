/// Convolutions as arguments: from what a caller wrote to what families decide by.
#pragma once

#include "conv2d/problem.hpp"
#include "operations/common/operand_list.hpp"
#include "quarry/conv2d.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::conv2d {

/// The three tensors of a convolution, by what they are, and the operands that they are in the arguments'
/// direction. A gradient has the extents of what it is the gradient of.
struct Roles {
  const TensorView& activations;
  const TensorView& filters;
  const TensorView& output;
  Operand activations_name;
  Operand filters_name;
  Operand output_name;
};

/// @pre the direction is one
Roles roles_of(const Conv2dArguments& arguments);

/// Checks the arguments and fills `problem`, as the normalise of a GEMM does.
/// @param operands the list of these arguments
Status normalise(const Conv2dArguments& arguments, const OperandList& operands, Conv2dProblem& problem);

/// Fills `problem` without a check. @pre normalise accepts the arguments
void describe(const Conv2dArguments& arguments, Conv2dProblem& problem);

}  // namespace quarry::detail::conv2d
