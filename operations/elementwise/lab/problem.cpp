#include <algorithm>
#include <array>

#include "basic/text.hpp"
#include "lab/problems/operand_spec.hpp"
#include "operations/elementwise/lab/operation.hpp"
#include "operations/elementwise/problem.hpp"

namespace quarry::lab::elementwise {
namespace {

using expression::Shape;

/// A fake matrix of the extents, or a batch of them, in rows or columns.
TensorView matrix_view(const Problem& p, const std::vector<std::int64_t>& extents, DType type,
                       bool by_columns) {
  std::array<std::int64_t, 4> strides = {};
  const std::size_t rank = extents.size();
  std::array<std::size_t, 4> order = {0, 1, 2, 3};
  if (by_columns && rank > 1) std::swap(order[rank - 2], order[rank - 1]);
  std::int64_t stride = 1;
  for (std::size_t i = rank; i-- > 0;) {
    strides[order[i]] = stride;
    std::int64_t along = extents[order[i]];
    if (i + 1 == rank && rank > 1) along = detail::elementwise::line_distance(along, p.lines);
    stride = detail::product_of_extents(stride, along);
  }
  return TensorView::strided(nullptr, type, extents, std::span(strides).first(rank));
}

/// A fake output of lines: a vector, or a batch of them.
TensorView lines_view(const Problem& p, const expression::Tensor& tensor) {
  std::vector<std::int64_t> extents = p.extents;
  const bool by_rows = tensor.shape == Shape::per_row;
  if (extents.size() > 1) {
    extents.erase(by_rows ? extents.end() - 1 : extents.end() - 2);
  } else if (by_rows) {
    extents = {1};
  }
  std::vector<std::int64_t> strides(extents.size(), 1);
  for (std::size_t i = extents.size() - 1; i-- > 0;)
    strides[i] = detail::product_of_extents(strides[i + 1], extents[i + 1]);
  return TensorView::strided(nullptr, tensor.dtype, extents, strides);
}

TensorView fake_view(const Problem& p, const expression::Tensor& tensor,
                     expression::Extent extent = expression::Extent::element) {
  const std::int64_t rows = p.extents.size() > 1 ? p.extents[p.extents.size() - 2] : 1;
  std::vector<std::int64_t> extents = p.extents;
  if (extent == expression::Extent::group)
    extents.back() = extents.back() / expression::group_columns +
                     (extents.back() % expression::group_columns != 0 ? 1 : 0);
  const bool is_line = extent == expression::Extent::row || extent == expression::Extent::column;
  TensorView view;
  switch (*tensor.shape) {
    case Shape::scalar: view = TensorView::vector(nullptr, tensor.dtype, 1); break;
    case Shape::per_row:
      view = is_line ? lines_view(p, tensor) : TensorView::vector(nullptr, tensor.dtype, rows);
      break;
    case Shape::per_column:
      view = is_line ? lines_view(p, tensor) : TensorView::vector(nullptr, tensor.dtype, p.extents.back());
      break;
    case Shape::gathered:
      view = matrix_view(p, {p.table_rows > 0 ? p.table_rows : rows, extents.back()}, tensor.dtype, false);
      break;
    default: view = matrix_view(p, extents, tensor.dtype, *tensor.shape == Shape::column);
  }
  const int most = std::max(1, 16 / std::max(1, bytes_of(tensor.dtype)));
  align(view, {.dtype = tensor.dtype, .alignment = std::min(p.alignment, most)});
  return view;
}

/// "4096x4096": one to four sizes.
Result<std::vector<std::int64_t>> parse_extents(std::string_view shape) {
  const auto crosses = static_cast<std::size_t>(std::ranges::count(shape, 'x'));
  return parse_sizes(shape, std::string_view("KLMN").substr(3 - std::min<std::size_t>(crosses, 3)),
                     "4096x4096");
}

/// The declared tensors, with `out` of the type that is asked for, and `x` where nothing is declared.
Result<expression::Declarations> declared(SettingReader& reader) {
  const auto type = reader.read("type", parse_dtype);
  expression::Declarations all = {.sum = DType::none};
  const bool has_list = !reader.text("with").empty();
  const auto list = reader.read(
      "with", [](std::string_view text) { return expression::Declarations::parse(text, DType::none); });
  if (!reader.status()) return reader.status();
  if (list) all = *list;
  const auto out = std::ranges::find(all.tensors, "out", &expression::Tensor::name);
  if (out == all.tensors.end() && !type)
    return Status(StatusCode::parse_error,
                  "which type? Say the type of `out` behind the shape (elementwise 4096x4096 bf16)");
  const DType of_out = out == all.tensors.end() ? *type : out->dtype;
  if (!has_list) all.tensors.push_back({.name = "x", .dtype = of_out, .shape = Shape::row});
  if (out == all.tensors.end() || !has_list) all.tensors.push_back({.name = "out", .dtype = of_out});
  return all;
}

bool has_input(const Expression& expression, std::string_view name) {
  return std::ranges::any_of(expression.inputs(), [&](const auto& input) { return input.name == name; });
}

}  // namespace

ElementwiseArguments Lab::arguments(const Problem& p) {
  ElementwiseArguments arguments = {.expression = p.expression};
  for (const expression::Tensor& input : p.expression.inputs())
    arguments.tensors.push_back({input.name, fake_view(p, input)});
  for (const expression::Output& output : p.expression.outputs())
    arguments.tensors.push_back({output.tensor.name, fake_view(p, output.tensor, output.extent)});
  return arguments;
}

std::vector<Operand> Lab::in_place(const Problem& p) {
  const auto inputs = p.expression.inputs();
  for (std::size_t i = 0; i < inputs.size() && i < tensor_operands; ++i) {
    if (inputs[i].name == p.in_place) return {tensor_operand(static_cast<int>(i))};
  }
  return {};
}

Result<Problem> Lab::parse(std::string_view shape, SettingReader& reader) {
  const auto extents = parse_extents(shape);
  if (!extents) return extents.status();
  const auto declarations = declared(reader);
  if (!declarations) return declarations.status();
  const std::string_view text = reader.text("epilogue").empty() ? "out = x" : reader.text("epilogue");
  const Result<Expression> expression = Expression::parse(text, *declarations);
  if (!expression) {
    reader.fail("epilogue", expression.status());
    return reader.status();
  }
  Problem problem{.extents = *extents, .expression = *expression};
  problem.alignment = static_cast<int>(reader.integer("align", 256).value_or(0));
  problem.lines = reader.integer("lines", 1 << 20).value_or(0);
  problem.in_place = reader.text("in-place");
  problem.table_rows = reader.integer("table-rows", std::int64_t{1} << 31).value_or(0);
  if (!problem.in_place.empty() && !has_input(*expression, problem.in_place))
    reader.fail("in-place", Status(StatusCode::parse_error, "expected an input of the expression, got " +
                                                                detail::quoted(problem.in_place)));
  return problem;
}

std::string Lab::shape_text(const Problem& p) {
  std::string text;
  for (const std::int64_t extent : p.extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::string Lab::command_text(const Problem& p) {
  std::string text = shape_text(p) + flag_text("epilogue", "'" + p.expression.text() + "'") +
                     flag_text("with", p.expression.declarations().text());
  if (p.alignment > 0) text += flag_text("align", std::to_string(p.alignment));
  if (p.lines > 0) text += flag_text("lines", std::to_string(p.lines));
  if (!p.in_place.empty()) text += flag_text("in-place", p.in_place);
  if (p.table_rows > 0) text += flag_text("table-rows", std::to_string(p.table_rows));
  return text;
}

}  // namespace quarry::lab::elementwise
