/// Expressions in the place of an epilogue, of GEMMs and of operations that are one: their checks, and what
/// launches hold of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "gemm/expression_params.hpp"
#include "gemm/problem.hpp"
#include "launch.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/operand_list.hpp"
#include "quarry/expression.hpp"
#include "quarry/gemm.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// A tensor of an expression but `out`.
struct OwnTensor {
  const expression::Tensor& declared;
  bool is_output;
  expression::Extent extent;
};

/// Those of an expression, which outlives them, in the order of a kernel's parameters.
std::vector<OwnTensor> own_tensors(const Expression& expression);

/// Lists the tensors of an expression that have a name.
/// @param may_stay a run may leave elements of outputs as they are
void list_tensors(const GivenExpression& given, OperandList& operands, bool may_stay = false);

/// "`c` stands beside an expression: write it in the expression"
Status beside_expression(std::string_view part);

/// The same of scales: of blocks of K, "`a_scale` of 1x128 is not taken together with an expression: no
/// kernel has both", as these act within the sum.
Status scale_beside_expression(std::string_view scale, ScaleGranularity granularity);

/// "`b_zero` is not taken together with an expression: no kernel has both". @param part in quotes
Status apart_from_expression(std::string_view part);

/// Whether the standard chain is left alone. @param has_c the arguments have a C
Status check_chain_unused(const Epilogue& epilogue, bool has_c);

/// "Operand `x` is given without an expression"
Status without_expression(std::string_view tensor);

/// Whether arguments have tensors with an expression only.
/// @tparam Arguments of an operation that may have an expression of sums
template <class Arguments>
Status check_without_expression(const Arguments& args) {
  if (args.expression || args.tensors.empty()) return {};
  return without_expression(args.tensors.front().name);
}

/// The same, and whether they have nothing beside one: neither parts of the standard chain nor scales.
template <class Arguments>
Status check_alone(const Arguments& args) {
  if (!args.expression) return check_without_expression(args);
  if (Status s = check_chain_unused(args.epilogue, args.c.has_value()); !s) return s;
  if constexpr (requires { args.a_scale; }) {
    if (args.a_scale) return scale_beside_expression("a_scale", args.a_scale_granularity);
    if (args.b_scale) return scale_beside_expression("b_scale", args.b_scale_granularity);
  }
  return {};
}

/// Checks the expression, its output and its tensors.
/// @param operation "a GEMM", for messages. @param accumulator of the sums
/// @param is_promoted scales of blocks are in the sums. @pre the output was checked
Status check_given(const GivenExpression& given, std::string_view operation, DType accumulator,
                   bool is_promoted = false);

/// Whether A or B has scales of blocks, which promote sums.
bool has_blocks_of_scales(const GemmArguments& arguments);

/// The same of a GEMM's arguments, or that there are no tensors without an expression, and nothing beside
/// one but scales of blocks.
/// @pre A, B and `out` were checked
Status check_expression(const GemmArguments& arguments, DType accumulator);

/// The expression of arguments that have one.
GivenExpression given_expression(const GemmArguments& arguments);

/// The output as kernels with an expression see it. @pre check_given
MatrixParams matrix_of_out(const GivenExpression& given);

/// The types of the expression's outputs, in their order, as the arguments have them. @pre check_given
std::span<const DType> expression_types(const GivenExpression& given,
                                        std::array<DType, expression::max_outputs>& room);

/// A hash of the expression with these types: the same for all problems that compute the same of sums.
/// @pre check_given
std::uint64_t expression_hash(const GivenExpression& given);

/// Tells expressions and the types of their outputs apart, for look-ups: far cheaper than expression_hash,
/// but an output that is declared with the type that it has anyway makes another number.
/// @pre check_given
std::uint64_t expression_word(const GivenExpression& given);

/// The expression with these types, if this program has interned it. @pre check_given
KnownExpression known(const GivenExpression& given);

/// Writes what is known of the expression to a problem. @pre check_given
void describe_expression(const GivenExpression& given, GemmProblem& problem);

/// The expression's parameters in a launch that has them (gemm_launch), and its expression.
/// @param is_transposed the steps that compute it see rows of the arguments' output as columns
/// @pre the problem has an expression, and the launch is not empty
void add_expression(const GemmProblem& problem, bool is_transposed, Launch& launch);

/// Exchanges rows and columns of an expression's tensors.
void transpose(const Expression& expression, ExpressionParams& params);

/// The expression's parameters in an image of a launch. @param step of a kernel with an expression
const ExpressionParams& expression_params(const std::byte* image, const Step& step);

}  // namespace quarry::detail
