/// Expressions of GEMM arguments: their checks, and what launches hold of them.
#pragma once

#include <cstddef>

#include "gemm/expression_params.hpp"
#include "gemm/problem.hpp"
#include "launch.hpp"
#include "operations/common/operand_list.hpp"
#include "quarry/gemm.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// Lists the tensors of an expression that have a name.
void list_tensors(const GemmArguments& arguments, OperandList& operands);

/// Checks the expression and its tensors, or that there are none. @pre A, B and `out` were checked
/// @param accumulator of the sums
Status check_expression(const GemmArguments& arguments, DType accumulator);

/// Writes what is known of the expression to a problem. @pre check_expression, and there is one
void describe_expression(const GemmArguments& arguments, GemmProblem& problem);

/// The expression's parameters in a launch that has them (gemm_launch), and its expression.
/// @pre the problem has an expression, and the launch is not empty
void add_expression(const GemmProblem& problem, Launch& launch);

/// The expression's parameters in an image of a launch. @param step of a kernel with an expression
const ExpressionParams& expression_params(const std::byte* image, const Step& step);

}  // namespace quarry::detail
