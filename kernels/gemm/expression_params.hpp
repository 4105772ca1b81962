/// What a GEMM kernel with an expression compiled in is launched with, behind its other parameters. Plain
/// constexpr C++, shared by host and device.
#pragma once

#include "common/matrix_params.hpp"

namespace quarry {

/// Tensors of an expression beside the output, at most.
inline constexpr int gemm_expression_tensors = 8;

/// A tensor: inputs are read, outputs written. An input without data has one value.
struct ExpressionTensorParams {
  MatrixParams matrix;
  /// A number of the tensor's type.
  double value;
};

/// The expression's inputs in its order, then its outputs but `out`.
struct ExpressionParams {
  ExpressionTensorParams tensors[gemm_expression_tensors];
};

/// The parameters of such a kernel. @tparam Params those of the kernel without an expression
template <class Params>
struct WithExpression : Params {
  ExpressionParams expression;
};

}  // namespace quarry
