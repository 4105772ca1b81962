/// Expressions: what becomes of the sums of an operation, or of tensors alone, written by the user and
/// compiled into a kernel.
///
/// The same expression as text and in C++:
///
///     Expression::parse("out = gelu(sum + bias) * gate; amax = max(abs(out))",
///                       *expression::Declarations::parse("bias=bf16:per_column,gate=bf16:row"));
///
///     using namespace quarry::expression;
///     const Value out = gelu(sum() + tensor("bias", DType::bf16, Shape::per_column)) *
///                       tensor("gate", DType::bf16, Shape::row);
///     Expression::make({{"out", out}, {"amax", max(abs(out))}});
///
/// docs/expressions.md describes the language.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quarry/status.hpp"
#include "quarry/types.hpp"

namespace quarry {

namespace detail {
struct ExpressionGraph;
struct ValueTree;
}  // namespace detail

namespace expression {

/// What a tensor of an expression holds values for.
enum class Shape : std::uint8_t {
  scalar,      ///< one value, given from the host or read from memory when the kernel runs
  per_row,     ///< a value for each row of the output
  per_column,  ///< a value for each column of the output
  row,         ///< a matrix whose rows are contiguous
  column,      ///< a matrix whose columns are contiguous
  gathered,  ///< an input, a matrix of any number of rows, of which an index chooses one for each row of the
             ///< output: see gathered()
};

/// "scalar", "per_row", "per_column", "row", "col" or "gathered".
std::string_view to_string(Shape shape);

/// A tensor of an expression, by its name.
struct Tensor {
  std::string name = {};
  /// `none` for an output: the type of the problem's output if it is `out`, else the type that it is computed
  /// in.
  DType dtype = DType::none;
  /// Absent for an output: what its value needs, a matrix in rows where there is a choice.
  std::optional<Shape> shape = std::nullopt;
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// The tensors that an expression's text may name. Those that it assigns are outputs, the others are inputs.
struct Declarations {
  std::vector<Tensor> tensors = {};
  /// The type of `sum`: f32, f64 or s32; `none` where there are no sums, as in an elementwise operation.
  DType sum = DType::f32;

  /// From a list such as `bias=bf16:per_column,gate=bf16:row`: NAME=TYPE:SHAPE, of which an output may leave
  /// :SHAPE out. Errors have three lines: what is wrong, the text, and a caret under the column at fault.
  static Result<Declarations> parse(std::string_view text, DType sum = DType::f32);

  /// The list as text. `parse` reads it back, if all types are given.
  std::string text() const;
};

/// What a reduction leaves a value for.
enum class Extent : std::uint8_t {
  element,  ///< no reduction: each element of the output
  group,    ///< each group of 128 columns of a row
  row,
  column,
  all,  ///< a single value
};

/// How the two sums of a gated pair lie in B, which has twice as many columns as the output.
enum class Pairs : std::uint8_t {
  none,    ///< there are none
  halves,  ///< columns [0, N / 2) are gates, and [N / 2, N) their partners
  eights,  ///< of columns 16 j to 16 j + 15 the first eight are gates, and the others their partners: of the
           ///< output's columns 8 j to 8 j + 7
};

/// Columns of a group.
inline constexpr int group_columns = 128;

/// An output and what it has values for.
struct Output {
  Tensor tensor;
  /// A matrix of the output's extents for `element`, of rows and ceil(columns / 128) for `group`.
  Extent extent = Extent::element;
  friend bool operator==(const Output&, const Output&) = default;
};

/// An expression may have so many nodes, inputs and outputs, and its text so many bytes.
inline constexpr int max_nodes = 1000;
inline constexpr int max_inputs = 16;
inline constexpr int max_outputs = 8;
inline constexpr int max_text_bytes = 1 << 16;

/// A value while an expression is written in C++. Building one never fails: Expression::make reports what is
/// wrong. Cheap to copy.
class Value {
 public:
  /// A constant. It has the type of the values beside it; where there are none, f32.
  Value(double constant);
  /// What functions of this header make.
  explicit Value(std::shared_ptr<const detail::ValueTree> tree) : tree_(std::move(tree)) {}
  const std::shared_ptr<const detail::ValueTree>& tree() const { return tree_; }

 private:
  std::shared_ptr<const detail::ValueTree> tree_;
};

/// The sums of the operation, of this type: f32, f64 or s32.
Value sum(DType type = DType::f32);
/// The two halves of the sums of a gated pair: columns [0, N / 2) and [N / 2, N), for an output of N / 2
/// columns.
/// @param sums what `sum()` gives
Value gate(const Value& sums);
Value up(const Value& sums);
/// The same of pairs whose columns lie in blocks of eight by turns; see Pairs.
Value gate8(const Value& sums);
Value up8(const Value& sums);
/// An input.
Value tensor(std::string name, DType dtype, Shape shape);
/// Row `index` of a table, for each row of the output: `table[index]` of the text form. Where the index is
/// not a row of the table, all its values are 0, and nothing is read.
/// @param table a tensor of Shape::gathered. It has one index
/// @param index a tensor of s32 and Shape::per_row
Value gathered(const Value& table, const Value& index);
/// One value, given from the host or read from memory when the kernel runs.
Value scalar(std::string name, DType dtype = DType::f32);
/// The function, operator or reduction that the text form calls `name`.
Value call(std::string_view name, std::initializer_list<Value> arguments);
/// `x` rounded to a type, with saturation where the type saturates: `bf16(x)` of the text form.
Value rounded(const Value& x, DType type);

/// What an output is made of. See Tensor for the defaults.
struct NamedValue {
  std::string name;
  Value value;
  DType dtype = DType::none;
  std::optional<Shape> shape = std::nullopt;
};

}  // namespace expression

/// An expression that was checked. It cannot change; copies share it.
class Expression {
 public:
  /// From text: `NAME = VALUE` statements between `;`. A name that is assigned is an output if it is `out`,
  /// if it is declared, or if no later statement uses it; others are local names. An output's name stands for
  /// its value before it is rounded.
  ///
  /// On an error the Status (parse_error, or not_found for an unknown name) has three lines: what is wrong,
  /// the text, and a caret under the column at fault.
  static Result<Expression> parse(std::string_view text, const expression::Declarations& declared = {});

  /// From C++. Errors show the expression as text.
  static Result<Expression> make(std::span<const expression::NamedValue> outputs);
  static Result<Expression> make(std::initializer_list<expression::NamedValue> outputs) {
    return make(std::span(outputs.begin(), outputs.size()));
  }

  /// The tensors that are read, in the order in which they are first needed; shapes are given.
  std::span<const expression::Tensor> inputs() const;
  /// What is written, in the order of assignment; shapes are given.
  std::span<const expression::Output> outputs() const;
  /// The type of the sums, `none` if they are not read.
  DType sum_type() const;
  /// Whether the sums are read as a gated pair, so that the output has half their columns.
  bool is_gated() const { return pairs() != expression::Pairs::none; }
  /// How such pairs lie in B.
  expression::Pairs pairs() const;

  /// The expression as text, the same for all ways to write the same graph. With `declarations()` it is
  /// parsed back to this expression.
  std::string text() const;
  expression::Declarations declarations() const;
  /// A number that tells expressions apart, the same on every machine: for names. It was computed once.
  std::uint64_t hash() const { return hash_; }

  /// Whether both compute the same of tensors of the same names.
  friend bool operator==(const Expression& a, const Expression& b);

  const detail::ExpressionGraph& graph() const { return *graph_; }
  /// @pre not null
  explicit Expression(std::shared_ptr<const detail::ExpressionGraph> graph);

 private:
  std::shared_ptr<const detail::ExpressionGraph> graph_;
  std::uint64_t hash_ = 0;
};

namespace expression {

inline Value operator+(const Value& a, const Value& b) { return call("+", {a, b}); }
inline Value operator-(const Value& a, const Value& b) { return call("-", {a, b}); }
inline Value operator*(const Value& a, const Value& b) { return call("*", {a, b}); }
inline Value operator/(const Value& a, const Value& b) { return call("/", {a, b}); }
inline Value operator-(const Value& x) { return call("-", {x}); }
inline Value operator<(const Value& a, const Value& b) { return call("<", {a, b}); }
inline Value operator<=(const Value& a, const Value& b) { return call("<=", {a, b}); }
inline Value operator>(const Value& a, const Value& b) { return call(">", {a, b}); }
inline Value operator>=(const Value& a, const Value& b) { return call(">=", {a, b}); }
inline Value operator==(const Value& a, const Value& b) { return call("==", {a, b}); }
inline Value operator!=(const Value& a, const Value& b) { return call("!=", {a, b}); }
inline Value operator&&(const Value& a, const Value& b) { return call("and", {a, b}); }
inline Value operator||(const Value& a, const Value& b) { return call("or", {a, b}); }
inline Value operator!(const Value& x) { return call("not", {x}); }

/// `a` where the condition holds, else `b`.
inline Value select(const Value& condition, const Value& a, const Value& b) {
  return call("select", {condition, a, b});
}
inline Value min(const Value& a, const Value& b) { return call("min", {a, b}); }
inline Value max(const Value& a, const Value& b) { return call("max", {a, b}); }
inline Value clamp(const Value& x, const Value& low, const Value& high) {
  return call("clamp", {x, low, high});
}
inline Value abs(const Value& x) { return call("abs", {x}); }
inline Value exp(const Value& x) { return call("exp", {x}); }
inline Value log(const Value& x) { return call("log", {x}); }
inline Value sqrt(const Value& x) { return call("sqrt", {x}); }
inline Value rsqrt(const Value& x) { return call("rsqrt", {x}); }
inline Value erf(const Value& x) { return call("erf", {x}); }

inline Value relu(const Value& x) { return call("relu", {x}); }
inline Value leaky_relu(const Value& x, const Value& slope = 0.01) { return call("leaky_relu", {x, slope}); }
inline Value tanh(const Value& x) { return call("tanh", {x}); }
inline Value sigmoid(const Value& x) { return call("sigmoid", {x}); }
inline Value silu(const Value& x) { return call("silu", {x}); }
inline Value hardswish(const Value& x) { return call("hardswish", {x}); }
inline Value gelu(const Value& x) { return call("gelu", {x}); }
inline Value gelu_tanh(const Value& x) { return call("gelu_tanh", {x}); }

/// The derivatives of those, at x.
inline Value relu_derivative(const Value& x) { return call("relu_derivative", {x}); }
inline Value leaky_relu_derivative(const Value& x, const Value& slope = 0.01) {
  return call("leaky_relu_derivative", {x, slope});
}
inline Value tanh_derivative(const Value& x) { return call("tanh_derivative", {x}); }
inline Value sigmoid_derivative(const Value& x) { return call("sigmoid_derivative", {x}); }
inline Value silu_derivative(const Value& x) { return call("silu_derivative", {x}); }
inline Value hardswish_derivative(const Value& x) { return call("hardswish_derivative", {x}); }
inline Value gelu_derivative(const Value& x) { return call("gelu_derivative", {x}); }
inline Value gelu_tanh_derivative(const Value& x) { return call("gelu_tanh_derivative", {x}); }

/// Reductions of a value of every element: one value for all, for each row, each column, each group of a row.
inline Value max(const Value& x) { return call("max", {x}); }
inline Value sum(const Value& x) { return call("sum", {x}); }
inline Value row_max(const Value& x) { return call("row_max", {x}); }
inline Value row_sum(const Value& x) { return call("row_sum", {x}); }
inline Value column_max(const Value& x) { return call("column_max", {x}); }
inline Value column_sum(const Value& x) { return call("column_sum", {x}); }
inline Value group_max(const Value& x) { return call("group_max", {x}); }
inline Value group_sum(const Value& x) { return call("group_sum", {x}); }

}  // namespace expression
}  // namespace quarry
