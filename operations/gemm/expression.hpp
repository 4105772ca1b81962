/// Expressions of GEMM arguments: their checks, and what launches hold of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

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

/// The types of the expression's outputs, in their order, as the arguments have them. @pre check_expression,
/// and there is one
std::span<const DType> expression_types(const GemmArguments& arguments,
                                        std::array<DType, expression::max_outputs>& room);

/// A hash of the expression with these types: the same for all problems that compute the same of sums.
/// @pre check_expression, and there is one
std::uint64_t expression_hash(const GemmArguments& arguments);

/// Tells expressions and the types of their outputs apart, for look-ups: far cheaper than expression_hash,
/// but an output that is declared with the type that it has anyway makes another number.
/// @pre check_expression, and there is one
std::uint64_t expression_word(const GemmArguments& arguments);

/// Writes what is known of the expression to a problem. @pre check_expression, and there is one
void describe_expression(const GemmArguments& arguments, GemmProblem& problem);

/// The expression's parameters in a launch that has them (gemm_launch), and its expression.
/// @pre the problem has an expression, and the launch is not empty
void add_expression(const GemmProblem& problem, Launch& launch);

/// The expression's parameters in an image of a launch. @param step of a kernel with an expression
const ExpressionParams& expression_params(const std::byte* image, const Step& step);

}  // namespace quarry::detail
