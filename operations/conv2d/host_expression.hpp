/// What an expression makes of the sums of a convolution, on the CPU.
#pragma once

#include "conv2d/params.hpp"
#include "operations/gemm/host_expression.hpp"

namespace quarry::host {

/// An expression and its tensors, and the output as the matrix that they are beside.
struct ConvolutionExpression {
  GemmExpression expression;
  MatrixParams out;
};

/// What finishes a block of outputs, whose rows and columns are counted over all groups.
/// @param type of the output. The expression outlives the result.
ExpressionFinish finish_of(const ConvolutionExpression& expression, DType type, const Block& block);

}  // namespace quarry::host
