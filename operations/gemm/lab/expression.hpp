/// Expressions of GEMM problems: their text, their tensors, random ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/config_parts.hpp"
#include "lab/problems/dice.hpp"
#include "lab/problems/settings.hpp"
#include "operations/gemm/lab/problem.hpp"
#include "quarry/metadata.hpp"

namespace quarry::lab::gemm {

/// The settings of an expression.
inline constexpr Setting expression_settings[] = {
    {"epilogue", "TEXT", "An expression in the place of the epilogue's parts: 'out = gelu(sum + bias)'"},
    {"with", "LIST", "Its tensors but `out`: bias=f32:per_column,gate=bf16:row"},
    {"in-place", "NAME", "An input of the expression that is `out` itself"},
};

/// The setting of tensors whose rows an index chooses.
inline constexpr Setting table_settings[] = {
    {"table-rows", "N", "Rows of each tensor that is declared gathered (as many as `out` has)"},
};

/// Reads them. @param sums the accumulator's type, or what its sums are promoted to. @param in_place the
/// input that is `out` itself
void read_expression(SettingReader& reader, DType sums, std::optional<Expression>& expression,
                     std::string& in_place);

/// The same as text; empty where there is no expression.
std::string expression_text(const std::optional<Expression>& expression, const std::string& in_place);

/// The operand that is `out` itself; none where there is no such.
Operand in_place_tensor(const std::optional<Expression>& expression, const std::string& in_place);

/// The type of an output: the declared one, or the one that it is computed in.
DType type_of_output(const Expression& expression, std::size_t output);

/// The sums as f32 of moderate size, in the words of expressions: sums of bytes are large.
/// @param terms of a sum. @param sum "sum", or a half of a pair. @param is_promoted scales of blocks are in
/// it
std::string moderate_sum(const Types& types, std::int64_t terms, const std::string& sum = "sum",
                         bool is_promoted = false);

/// Gives the arguments the problem's expression, with fake tensors: matrices are aligned as the output is.
void add_expression(const Problem& problem, GemmArguments& arguments);

/// Whether a kernel takes expressions.
bool takes_expressions(const KernelMetadata& kernel);

/// Whether it takes them beside scales of blocks, and with sums that it promotes.
bool promotes_beside_expressions(const KernelMetadata& kernel);

/// Gives the problem scales of blocks, of A, of B or of both; or lets sums of 8-bit floating-point numbers be
/// promoted without any, now and then. @pre the kernel promotes_beside_expressions, and types are there
void draw_promotion(Problem& problem, Dice& dice);

/// Gives the problem an expression instead of its epilogue: one with a tensor of each shape, or any.
/// @pre sizes and types are there
void draw_expression(Problem& problem, Dice& dice);

/// An expression that reads rows of the tables `table`, `other` and `own`, with a vector `column` of columns.
/// @param terms of a sum
/// @param is_promoted as of moderate_sum
Expression gathered_expression(const Types& types, std::int64_t terms, bool is_promoted = false);

/// Rows of such tables, fewer than the outputs of paths have: some indices choose none.
inline constexpr std::int64_t gathered_rows = 7;

/// Gives the problem an expression that reads rows of tables, fewer than the output has.
void draw_gathered_expression(Problem& problem, Dice& dice);

/// What an expression may have beyond values of each element.
struct WideParts {
  bool lines = false;  ///< reductions of rows, columns, all
  bool groups = false;
  bool pairs = false;
  bool eights = false;  ///< the pairs lie in blocks of eight columns
};

/// Whether a kernel takes expressions with such parts.
bool takes_wide(const KernelMetadata& kernel, const WideParts& parts);

/// As draw_expression, one with these parts: lines without groups are rows, columns and all.
/// @pre the kernel takes_wide
void draw_wide_expression(Problem& problem, const WideParts& parts, Dice& dice);

/// What an expression has of them.
WideParts wide_parts(const Expression& expression);

/// A random expression that kernels take, with tensors of all shapes. @param sums the type that it sees
Expression random_expression_of(DType sums, DType out, Dice& dice, const WideParts& parts = {});

/// Gives arguments without an epilogue a random expression, with tensors that are stored in any way.
/// @param parts that it has; with groups, lines or not
/// @pre kernels with expressions write the output's type, and A, B and `out` are there, of half as many
/// columns as B for pairs
void add_random_expression(GemmArguments& arguments, const WideParts& parts, Dice& dice);

}  // namespace quarry::lab::gemm
