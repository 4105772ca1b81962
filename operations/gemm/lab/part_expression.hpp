/// Expressions of an output that several problems share, of which vectors may have a part for each: of
/// grouped GEMMs and of lists.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lab/problems/dice.hpp"
#include "lab/problems/problem_text.hpp"
#include "lab/problems/settings.hpp"
#include "operations/gemm/lab/expression.hpp"
#include "quarry/expression.hpp"
#include "quarry/expression_tensor.hpp"

namespace quarry::lab::gemm {

/// The settings of such an expression that a GEMM's has not.
inline constexpr Setting part_settings[] = {
    {"of-each", "NAMES",
     "Inputs of the expression that have values of their own for each group or problem: bias"},
};

/// Extents of the output.
struct PartExtents {
  std::int64_t
      entries;  ///< of its batch, each a problem's; 0: there is no batch, and rows are some problem's
  std::int64_t rows, columns;
  std::int64_t parts;       ///< how many problems there are
  std::int64_t table_rows;  ///< of tables whose rows an index chooses; 0: as many as the output has
};

/// Whether a kernel of several problems takes expressions with such parts.
bool takes_part_expression(const KernelMetadata& kernel, const WideParts& parts);

/// Whether an input may have values for each problem.
bool may_have_parts(const expression::Tensor& input, const PartExtents& of);

/// Reads --of-each: inputs that may_have_parts. @param expression where there is one
std::vector<std::string> read_of_each(SettingReader& reader, const std::optional<Expression>& expression,
                                      const PartExtents& of);

/// The same as text; empty where there are none.
std::string of_each_text(const std::vector<std::string>& of_each);

/// Fake tensors for an expression. Matrices lie as the output does.
/// @param alignment of the output. @param in_place the input that is `out` itself; empty: none
std::vector<ExpressionTensor> part_tensors(const Expression& expression, const PartExtents& of,
                                           std::span<const std::string> of_each, int alignment,
                                           const TensorView& out, const std::string& in_place);

/// An expression with tensors of all shapes and several types, an output more, and what the parts say. Its
/// inputs `column` and `bias` are vectors of columns. @param terms of a sum @param parts lines or groups
Expression every_part_shape(const Types& types, std::int64_t terms, const WideParts& parts);

/// A random expression with these parts.
Expression random_part_expression(DType sums, DType out, const WideParts& parts, Dice& dice);

/// Tensors for an expression that are stored in any way, of which some have values for each problem; scalars
/// may be values.
std::vector<ExpressionTensor> random_part_tensors(const Expression& expression, const PartExtents& of,
                                                  Dice& dice);

/// Reads the expression of a problem and which of its tensors have parts.
/// @tparam Problem has `expression`, `in_place` and `of_each`
template <class Problem>
void read_part_expression(SettingReader& reader, Problem& problem, const PartExtents& of) {
  read_expression(reader, problem.sums(), problem.expression, problem.in_place);
  problem.table_rows = reader.integer("table-rows", std::int64_t{1} << 31).value_or(0);
  problem.of_each = read_of_each(reader, problem.expression, of);
}

/// The same as text; empty where there is no expression.
template <class Problem>
std::string part_expression_text(const Problem& problem) {
  std::string text = expression_text(problem.expression, problem.in_place);
  if (problem.table_rows > 0) text += flag_text("table-rows", std::to_string(problem.table_rows));
  return text + of_each_text(problem.of_each);
}

/// Gives arguments the problem's expression, if it has one, with fake tensors.
template <class Problem, class Args>
void add_part_expression(const Problem& problem, const PartExtents& of, Args& args) {
  if (!problem.expression) return;
  args.expression = problem.expression;
  args.tensors = part_tensors(*problem.expression, of, problem.of_each, problem.out.alignment, args.out,
                              problem.in_place);
}

}  // namespace quarry::lab::gemm
