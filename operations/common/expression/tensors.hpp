/// The tensors that arguments give an expression: what every operation with expressions checks of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "quarry/expression.hpp"
#include "quarry/expression_tensor.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// "Operand `x` ", as messages begin.
std::string about_tensor(std::string_view name);

/// Whether a tensor has a value for each row and column.
constexpr bool is_matrix(expression::Shape shape) {
  return shape == expression::Shape::row || shape == expression::Shape::column;
}

/// Whether a tensor has rows and columns: the output's, or such as an index chooses.
constexpr bool has_rows(expression::Shape shape) {
  return is_matrix(shape) || shape == expression::Shape::gathered;
}

/// Whether the expression has inputs whose rows an index chooses.
bool gathers(const Expression& expression);

/// Rows of the matrix, or of each of its batch. @pre the view's rank is at least 2
constexpr std::int64_t rows_of(const TensorView& view) { return view.extents[view.rank - 2U]; }

/// Whether device code rounds values to a type.
constexpr bool is_rounded_to(DType type) { return bytes_of(type) > 0; }

/// The tensor of this name, or null.
const ExpressionTensor* find_tensor(std::span<const ExpressionTensor> tensors, std::string_view name);

/// Whether each tensor of the list is in the expression, and there once.
Status check_tensor_names(const Expression& expression, std::span<const ExpressionTensor> tensors);

/// Whether a tensor's view is one that kernels walk, of the declared type (none: any).
/// @param name what messages of other checks call it
Status check_tensor_view(const ExpressionTensor& tensor, Operand name, DType declared);

/// Whether kernels write an output of the view's type, each element once.
Status check_output_tensor(const ExpressionTensor& tensor, Operand name);

/// The strides of a tensor along four extents, 0 where its elements are shared. Fails where it does not fit
/// these extents. @pre check_tensor_view
Status put_strides(const ExpressionTensor& tensor, expression::Shape shape, bool is_output,
                   std::span<const std::int64_t, 4> extents, std::span<long long, 4> strides);

/// A scalar's value, rounded to its type; refused where kernels take no value of the type.
Status put_value(const ExpressionTensor& tensor, DType type, double& value);

/// The status of a check of operands with the tensors' own names in its message. Not for one that has them:
/// a tensor may be called `tensor1`.
Status with_names(const Status& status, std::span<const ExpressionTensor> tensors);

/// How many reductions of an expression leave a value for each group, row, column, and for all.
struct ReductionCounts {
  int groups = 0;
  int rows = 0;
  int columns = 0;
  int all = 0;

  /// Whether there are some that are complete only after a line of elements.
  constexpr bool has_lines() const { return rows + columns + all > 0; }
  constexpr bool has_any() const { return groups > 0 || has_lines(); }
};
ReductionCounts reduction_counts(const ExpressionGraph& graph);
ReductionCounts reduction_counts(const Expression& expression);

inline bool has_reductions(const Expression& expression) { return reduction_counts(expression).has_any(); }

/// Whether values of an element need more than its own sum: gated pairs, reductions.
inline bool is_wide(const Expression& expression) {
  return expression.is_gated() || has_reductions(expression);
}

/// Whether each element of an input is read for the last time before `out` is written in its place, so that
/// the input may be `out` itself: where lines are reduced, vectors and scalars are read again later. Rows
/// that an index chooses may be read at any time.
bool is_read_before_out(const ExpressionGraph& graph, std::string_view name);
bool is_read_before_out(const Expression& expression, std::string_view name);

/// Extents of what a reduction leaves of elements of such extents.
std::array<std::int64_t, 4> extents_after(expression::Extent extent, std::array<std::int64_t, 4> elements);

/// Why an expression's values cannot be computed by kernels at all: types that are not rounded to.
Status check_rounding(const Expression& expression, std::string_view kernels);

/// Why an expression's values cannot be computed by kernels that finish each element by itself: reductions,
/// gated pairs, types that are not rounded to. @param kernels "elementwise kernels"
Status check_by_element(const Expression& expression, std::string_view kernels);

}  // namespace quarry::detail
