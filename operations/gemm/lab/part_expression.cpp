#include "operations/gemm/lab/part_expression.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "basic/text.hpp"
#include "common/config_parts.hpp"
#include "lab/campaign/draw_tensor.hpp"
#include "lab/problems/problem_text.hpp"
#include "operations/common/expression/tensors.hpp"

namespace quarry::lab::gemm {
namespace {

using expression::Declarations;
using expression::Shape;

/// The names of a list, "bias,scale".
std::vector<std::string> names_of(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

/// A vector for all problems, or for each of so many.
TensorView vector_view(DType type, std::int64_t length, std::int64_t parts) {
  return parts > 0 ? TensorView::row_major(nullptr, type, {parts, length})
                   : TensorView::vector(nullptr, type, length);
}

/// A table whose rows an index chooses, for all problems, or for each of so many.
TensorView table_view(DType type, std::int64_t rows, const PartExtents& of, std::int64_t parts) {
  return parts > 0 ? TensorView::row_major(nullptr, type, {parts, rows, of.columns})
                   : TensorView::row_major(nullptr, type, {rows, of.columns});
}

/// @param parts of a vector or a table; 0: it is the same for all problems
TensorView fake_view(const PartExtents& of, const expression::Tensor& tensor, DType type, std::int64_t parts,
                     int alignment) {
  switch (*tensor.shape) {
    case Shape::scalar: return TensorView::vector(nullptr, type, 1);
    case Shape::per_row: return vector_view(type, of.rows, parts);
    case Shape::per_column: return vector_view(type, of.columns, parts);
    case Shape::gathered: return table_view(type, of.table_rows > 0 ? of.table_rows : of.rows, of, parts);
    default: break;
  }
  OperandSpec spec = {.dtype = type, .layout = *tensor.shape == Shape::row ? Layout::row : Layout::column};
  spec.alignment = std::min(alignment, std::max(1, 128 / bits_of(type)));
  return view_of(spec, of.entries, of.rows, of.columns);
}

/// What reductions leave: of groups of columns a matrix.
TensorView reduced_view(const expression::Output& output, DType type, const PartExtents& of) {
  switch (output.extent) {
    case expression::Extent::row: return vector_view(type, of.rows, of.entries);
    case expression::Extent::column: return vector_view(type, of.columns, of.parts);
    case expression::Extent::all: return TensorView::vector(nullptr, type, 1);
    default: break;
  }
  const std::int64_t groups = (of.columns + expression::group_columns - 1) / expression::group_columns;
  const Layout layout = *output.tensor.shape == Shape::row ? Layout::row : Layout::column;
  return view_of({.dtype = type, .layout = layout}, of.entries, of.rows, groups);
}

bool has_only_parts(const Expression& expression, const WideParts& parts) {
  const WideParts has = wide_parts(expression);
  return has.lines == parts.lines && has.groups == parts.groups && has.pairs == parts.pairs &&
         has.eights == parts.eights;
}

/// A fake tensor beside an output, stored in any way.
TensorView random_tensor(const PartExtents& of, const expression::Tensor& tensor, const Storage& storage,
                         Dice& dice) {
  const bool is_shared = of.entries == 0 || (!storage.is_output && dice.one_in(3));
  switch (*tensor.shape) {
    case Shape::scalar: return TensorView::vector(nullptr, tensor.dtype, 1);
    case Shape::per_row: return vector_view(tensor.dtype, of.rows, is_shared ? 0 : of.parts);
    case Shape::per_column: {
      const std::int64_t columns = of.parts > 0 && dice.one_in(4) ? 1 : of.columns;
      return vector_view(tensor.dtype, columns, dice.one_in(2) ? of.parts : 0);
    }
    case Shape::gathered:
      return table_view(tensor.dtype, dice.between(0, 60), of, dice.one_in(2) ? of.parts : 0);
    default:
      return random_matrix(tensor.dtype, storage, is_shared ? 0 : of.entries, of.rows, of.columns, dice);
  }
}

}  // namespace

bool may_have_parts(const expression::Tensor& input, const PartExtents& of) {
  return input.shape == Shape::per_column || input.shape == Shape::gathered ||
         (input.shape == Shape::per_row && of.entries > 0);
}

bool takes_part_expression(const KernelMetadata& kernel, const WideParts& parts) {
  if (kernel.operands.scales != ScaleSupport::none)
    return false;  // which groups and lists have not beside one
  if (kernel.design.copy_engine != CopyEngine::tma) return takes_wide(kernel, parts);
  const std::int64_t least = bytes_of(kernel.operands.out.dtype) == 1 ? 256 : 128;
  const std::int64_t groups = parts.pairs ? 256 : 128;
  return (!parts.pairs || kernel.design.tile.n % least == 0) &&
         (!parts.groups || kernel.design.tile.n % groups == 0);
}

std::vector<std::string> read_of_each(SettingReader& reader, const std::optional<Expression>& expression,
                                      const PartExtents& of) {
  const std::vector<std::string> of_each = names_of(reader.text("of-each"));
  const auto fail = [&](const std::string& why) {
    reader.fail("of-each", Status(StatusCode::parse_error, why));
    return of_each;
  };
  if (!of_each.empty() && !expression) return fail("there is no expression; say --epilogue, too");
  for (const std::string& name : of_each) {
    const bool is_right = std::ranges::any_of(expression->inputs(), [&](const expression::Tensor& input) {
      return input.name == name && may_have_parts(input, of);
    });
    if (!is_right)
      return fail(
          "expected inputs of the expression that are " +
          std::string(of.entries == 0 ? "per_column or gathered" : "per_row, per_column or gathered") +
          ", got " + detail::quoted(name));
  }
  return of_each;
}

std::string of_each_text(const std::vector<std::string>& of_each) {
  std::string names;
  for (const std::string& name : of_each) names += (names.empty() ? "" : ",") + name;
  return names.empty() ? "" : flag_text("of-each", names);
}

std::vector<ExpressionTensor> part_tensors(const Expression& expression, const PartExtents& of,
                                           std::span<const std::string> of_each, int alignment,
                                           const TensorView& out, const std::string& in_place) {
  std::vector<ExpressionTensor> tensors;
  for (const expression::Tensor& input : expression.inputs()) {
    const bool has_each = std::ranges::find(of_each, input.name) != of_each.end();
    TensorView view = fake_view(of, input, input.dtype, has_each ? of.parts : 0, alignment);
    if (!in_place.empty() && input.name == in_place) {
      view = out;
      view.dtype = input.dtype;
    }
    tensors.push_back({input.name, view});
  }
  for (std::size_t i = 0; i < expression.outputs().size(); ++i) {
    const expression::Output& output = expression.outputs()[i];
    if (output.tensor.name == "out") continue;
    const DType type = type_of_output(expression, i);
    const bool is_reduced = output.extent != expression::Extent::element;
    tensors.push_back({output.tensor.name, is_reduced ? reduced_view(output, type, of)
                                                      : fake_view(of, output.tensor, type, 0, alignment)});
  }
  return tensors;
}

Expression every_part_shape(const Types& types, std::int64_t terms, const WideParts& parts) {
  const auto sum_text = [&](const std::string& sum) { return moderate_sum(types, terms, sum); };
  const std::string of_pairs = parts.eights ? "8(sum)" : "(sum)";
  const std::string sum = parts.pairs
                              ? "silu(" + sum_text("gate" + of_pairs) + ") * " + sum_text("up" + of_pairs)
                              : sum_text("sum");
  std::string text = "z = " + sum + " * s + column + bias + shared; ";
  std::string with = "s=f32:scalar,column=bf16:per_column,bias=f32:per_column,shared=f32:per_column";
  if (parts.lines) {
    text = "z = " + sum +
           " + column; out = relu(z); squares = row_sum(z * z) * row; most = row_max(abs(z)); "
           "total = column_sum(z) + bias; amax = max(abs(z)); all = sum(z)";
    with = "column=bf16:per_column,bias=f32:per_column,row=f16:per_row";
    return *Expression::parse(text, *Declarations::parse(with, partial_type(types.accumulator)));
  }
  if (parts.groups) {
    text += "scale = group_max(abs(z)) / 448; out = z / scale + row; ";
    with += ",scale=f32:col,row=f16:per_row";
  } else {
    text += "out = gelu(z) * m - row + relu(t); ";
    with += ",row=f16:per_row,m=bf16:row,t=f32:col";
  }
  text += "z16 = z";
  with += ",z16=f16:row";
  return *Expression::parse(text, *Declarations::parse(with, partial_type(types.accumulator)));
}

Expression random_part_expression(DType sums, DType out, const WideParts& parts, Dice& dice) {
  while (true) {
    const Expression drawn = random_expression_of(sums, out, dice, parts);
    if (has_only_parts(drawn, parts)) return drawn;
  }
}

std::vector<ExpressionTensor> random_part_tensors(const Expression& expression, const PartExtents& of,
                                                  Dice& dice) {
  std::vector<ExpressionTensor> tensors;
  for (const expression::Tensor& input : expression.inputs()) {
    ExpressionTensor tensor = {input.name};
    if (*input.shape != Shape::scalar || is_fp8(input.dtype) || dice.one_in(2)) {
      tensor.view = random_tensor(of, input, {.plain = dice.one_in(2)}, dice);
    } else {
      tensor.value = is_integer(input.dtype) ? static_cast<double>(dice.between(-20, 20)) : dice.fraction();
    }
    tensors.push_back(tensor);
  }
  for (std::size_t i = 0; i < expression.outputs().size(); ++i) {
    const expression::Output& output = expression.outputs()[i];
    if (output.tensor.name == "out") continue;
    const DType type = type_of_output(expression, i);
    const Storage storage = {.plain = dice.one_in(2), .is_output = true};
    expression::Tensor declared = output.tensor;
    declared.dtype = type;
    const bool is_reduced = output.extent != expression::Extent::element;
    tensors.push_back({output.tensor.name, is_reduced ? reduced_view(output, type, of)
                                                      : random_tensor(of, declared, storage, dice)});
  }
  return tensors;
}

}  // namespace quarry::lab::gemm
