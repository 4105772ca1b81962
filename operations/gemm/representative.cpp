#include "operations/gemm/representative.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "operations/common/epilogue_checks.hpp"

namespace quarry::detail::gemm {
namespace {

/// A fake tensor like another: of its address, only the alignment is known.
TensorView fake(const TensorView& view) {
  TensorView made = view;
  made.data = nullptr;
  if (view.data == nullptr || view.is_pointer_array) return made;
  const auto address = reinterpret_cast<std::uintptr_t>(view.data);
  made.assumed_alignment = static_cast<std::uint16_t>(1U << std::countr_zero(address | 16U));
  return made;
}

/// Of the alignment, only an element's is known.
void forget_alignment(TensorView& view) {
  view.assumed_alignment = static_cast<std::uint16_t>(std::max(1, bytes_of(view.dtype)));
}

/// A product, or the most that there is: strides of fake tensors may be as long as 64 bits count, and of one
/// that is too long the check of operands says so.
std::int64_t product(std::int64_t one, std::int64_t other) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(one, other, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

/// A matrix, or a batch of them, with so many rows.
TensorView with_rows(const TensorView& view, std::int64_t rows) {
  TensorView made = fake(view);
  if (view.rank < 2 || view.rank > TensorView::max_rank || view.tag != LayoutTag::strided) return made;
  const std::size_t row = view.rank - 2U;
  made.extents[row] = rows;
  if (made.strides[row] == 1 && made.strides[row + 1] != 1) {
    made.strides[row + 1] = rows + 1;
    forget_alignment(made);
  } else {
    made.strides[row] = std::max(made.strides[row], made.extents[row + 1]);
  }
  if (view.rank == 3 && !view.is_pointer_array)
    made.strides[0] = product(
        16 * rows, std::max(made.strides[row], product(made.strides[row + 1], made.extents[row + 1])));
  return made;
}

/// A vector of a value for each row, or a batch of them.
TensorView of_rows(const TensorView& view, std::int64_t rows) {
  TensorView made = fake(view);
  if (view.rank < 1 || view.rank > 2) return made;
  made.extents[view.rank - 1U] = rows;
  if (view.rank == 1 || view.strides[0] == 0) return made;
  made.strides[0] = product(rows, std::max<std::int64_t>(view.strides[1], 1));
  forget_alignment(made);
  return made;
}

/// The same, where there is one. @param change gives the other view
template <class Change>
void replace(std::optional<TensorView>& view, const Change& change) {
  if (view) view = change(*view);
}

void set_rows(Epilogue& epilogue, std::int64_t rows) {
  const auto matrix = [rows](const TensorView& view) { return with_rows(view, rows); };
  const auto vector = [rows](BiasAxis axis) {
    return [=](const TensorView& view) { return axis == BiasAxis::row ? of_rows(view, rows) : fake(view); };
  };
  replace(epilogue.residual, matrix);
  replace(epilogue.aux, matrix);
  replace(epilogue.bias, vector(epilogue.bias_axis));
  const bool is_value = epilogue.scale && epilogue.scale->extents[0] == 1;
  replace(epilogue.scale, vector(is_value ? BiasAxis::column : epilogue.scale_axis));
}

/// The shape that an expression declares of a tensor; absent for one that it does not name.
std::optional<expression::Shape> shape_of(const Expression& expression, const std::string& name) {
  for (const expression::Tensor& input : expression.inputs()) {
    if (input.name == name) return input.shape;
  }
  for (const expression::Output& output : expression.outputs()) {
    if (output.tensor.name == name) return output.tensor.shape;
  }
  return std::nullopt;
}

/// @param is_one_row whether the problem's own output has one row
void set_rows(ExpressionTensor& tensor, const Expression& expression, bool is_one_row, std::int64_t rows) {
  const std::optional<expression::Shape> shape = shape_of(expression, tensor.name);
  TensorView& view = tensor.view;
  if (!shape || view.rank == 0 || view.rank > TensorView::max_rank) return;
  const bool is_matrix = *shape == expression::Shape::row || *shape == expression::Shape::column;
  if (is_matrix && view.rank >= 2) {
    const bool is_broadcast = view.extents[view.rank - 2U] == 1 && !is_one_row;
    view = is_broadcast ? fake(view) : with_rows(view, rows);
  } else {
    view = *shape == expression::Shape::per_row ? of_rows(view, rows) : fake(view);
  }
}

}  // namespace

GemmArguments representative(const GemmArguments& arguments, std::int64_t rows) {
  GemmArguments made = arguments;
  made.a = with_rows(arguments.a, rows);
  made.b = fake(arguments.b);
  made.out = with_rows(arguments.out, rows);
  replace(made.c, [rows](const TensorView& view) { return with_rows(view, rows); });
  set_rows(made.epilogue, rows);
  const bool is_one_row = arguments.out.rank >= 2 && detail::rows(arguments.out) == 1;
  if (made.expression) {
    for (ExpressionTensor& tensor : made.tensors) set_rows(tensor, *made.expression, is_one_row, rows);
  }
  made.controls = {.mode = Mode::gemm, .split_k_slices = 1};
  return made;
}

}  // namespace quarry::detail::gemm
