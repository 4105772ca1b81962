#include "operations/grouped_gemm/lab/expression.hpp"

#include <algorithm>
#include <string_view>

#include "basic/text.hpp"
#include "common/config_parts.hpp"
#include "lab/campaign/draw_tensor.hpp"
#include "lab/problems/problem_text.hpp"
#include "operations/common/expression/tensors.hpp"

namespace quarry::lab::grouped_gemm {
namespace {

using expression::Declarations;
using expression::Shape;
using gemm::WideParts;

/// Whether an input may have values for each group: with contiguous groups, rows are of one group anyway.
bool may_be_of_each(const expression::Tensor& input, GroupForm form) {
  return input.shape == Shape::per_column || (input.shape == Shape::per_row && form != GroupForm::contiguous);
}

bool is_of_each(const Problem& p, std::string_view name) {
  return std::ranges::find(p.of_each, name) != p.of_each.end();
}

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

/// Extents of the output: of its batch, rows and columns.
struct Extents {
  std::int64_t entries, rows, columns;
};

/// A vector for all groups, or for each of so many.
TensorView vector_view(DType type, std::int64_t length, std::int64_t groups) {
  return groups > 0 ? TensorView::row_major(nullptr, type, {groups, length})
                    : TensorView::vector(nullptr, type, length);
}

TensorView fake_view(const Problem& p, const expression::Tensor& tensor, DType type) {
  const std::int64_t columns = p.output_columns();
  const std::int64_t groups = is_of_each(p, tensor.name) ? p.groups : 0;
  switch (*tensor.shape) {
    case Shape::scalar: return TensorView::vector(nullptr, type, 1);
    case Shape::per_row: return vector_view(type, p.out_rows(), groups);
    case Shape::per_column: return vector_view(type, columns, groups);
    default: break;
  }
  OperandSpec spec = {.dtype = type, .layout = *tensor.shape == Shape::row ? Layout::row : Layout::column};
  spec.alignment = std::min(p.out.alignment, std::max(1, 128 / bits_of(type)));
  return view_of(spec, p.entries(), p.out_rows(), columns);
}

/// The matrix of what reductions of groups of columns leave.
TensorView reduced_view(const expression::Output& output, DType type, const Extents& of) {
  const std::int64_t groups = (of.columns + expression::group_columns - 1) / expression::group_columns;
  const Layout layout = *output.tensor.shape == Shape::row ? Layout::row : Layout::column;
  return view_of({.dtype = type, .layout = layout}, of.entries, of.rows, groups);
}

/// moderate_sum of a problem.
std::string sum_text(const Problem& p, const std::string& sum = "sum") {
  const std::int64_t terms = p.form == GroupForm::ragged_k ? p.room : p.k;
  return gemm::moderate_sum({p.a.dtype, p.b.dtype, p.sums(), p.out.dtype}, terms, sum);
}

/// Tensors of all shapes and several types, an output more, and what the parts say.
Expression every_shape(const Problem& p, const WideParts& parts) {
  const std::string sum =
      parts.pairs ? "silu(" + sum_text(p, "gate(sum)") + ") * " + sum_text(p, "up(sum)") : sum_text(p);
  std::string text = "z = " + sum + " * s + column + bias + shared; ";
  std::string with = "s=f32:scalar,column=bf16:per_column,bias=f32:per_column,shared=f32:per_column";
  if (parts.groups) {
    text += "scale = group_max(abs(z)) / 448; out = z / scale + row; ";
    with += ",scale=f32:col,row=f16:per_row";
  } else {
    text += "out = gelu(z) * m - row + relu(t); ";
    with += ",row=f16:per_row,m=bf16:row,t=f32:col";
  }
  text += "z16 = z";
  with += ",z16=f16:row";
  return *Expression::parse(text, *Declarations::parse(with, partial_type(p.sums())));
}

bool has_parts(const Expression& expression, const WideParts& parts) {
  const WideParts has = gemm::wide_parts(expression);
  return !has.lines && has.groups == parts.groups && has.pairs == parts.pairs && !has.eights &&
         !detail::gathers(expression);
}

/// A random expression without reductions of lines.
Expression random_expression(DType sums, DType out, const WideParts& parts, Dice& dice) {
  while (true) {
    const Expression drawn = gemm::random_expression_of(sums, out, dice, parts);
    if (has_parts(drawn, parts)) return drawn;
  }
}

Extents extents_of(const TensorView& out) {
  return {out.rank == 3 ? out.extents[0] : 0, out.extents[out.rank - 2U], out.extents[out.rank - 1U]};
}

/// A fake tensor beside an output, stored in any way. @param groups of which vectors may have parts
TensorView random_tensor(const Extents& out, const expression::Tensor& tensor, std::int64_t groups,
                         const Storage& storage, Dice& dice) {
  const bool is_shared = out.entries == 0 || (!storage.is_output && dice.one_in(3));
  switch (*tensor.shape) {
    case Shape::scalar: return TensorView::vector(nullptr, tensor.dtype, 1);
    case Shape::per_row: return vector_view(tensor.dtype, out.rows, is_shared ? 0 : groups);
    case Shape::per_column: {
      const std::int64_t columns = groups > 0 && dice.one_in(4) ? 1 : out.columns;
      return vector_view(tensor.dtype, columns, dice.one_in(2) ? groups : 0);
    }
    default:
      return random_matrix(tensor.dtype, storage, is_shared ? 0 : out.entries, out.rows, out.columns, dice);
  }
}

}  // namespace

void read_expression(SettingReader& reader, Problem& p) {
  gemm::read_expression(reader, p.sums(), p.expression, p.in_place);
  p.of_each = names_of(reader.text("of-each"));
  const auto fail = [&](const std::string& why) {
    reader.fail("of-each", Status(StatusCode::parse_error, why));
  };
  if (!p.of_each.empty() && !p.expression) return fail("there is no expression; say --epilogue, too");
  for (const std::string& name : p.of_each) {
    const bool is_right = std::ranges::any_of(p.expression->inputs(), [&](const expression::Tensor& input) {
      return input.name == name && may_be_of_each(input, p.form);
    });
    if (!is_right)
      return fail("expected inputs of the expression that are " +
                  std::string(p.form == GroupForm::contiguous ? "per_column" : "per_row or per_column") +
                  ", got " + detail::quoted(name));
  }
}

std::string expression_text(const Problem& p) {
  std::string text = gemm::expression_text(p.expression, p.in_place);
  std::string names;
  for (const std::string& name : p.of_each) names += (names.empty() ? "" : ",") + name;
  if (!names.empty()) text += flag_text("of-each", names);
  return text;
}

void add_expression(const Problem& p, GroupedGemmArguments& args) {
  if (!p.expression) return;
  args.expression = p.expression;
  for (const expression::Tensor& input : p.expression->inputs()) {
    TensorView view = fake_view(p, input, input.dtype);
    if (!p.in_place.empty() && input.name == p.in_place) {
      view = args.out;
      view.dtype = input.dtype;
    }
    args.tensors.push_back({input.name, view});
  }
  for (std::size_t i = 0; i < p.expression->outputs().size(); ++i) {
    const expression::Output& output = p.expression->outputs()[i];
    if (output.tensor.name == "out") continue;
    const DType type = gemm::type_of_output(*p.expression, i);
    const Extents extents = {p.entries(), p.out_rows(), p.output_columns()};
    const bool is_reduced = output.extent != expression::Extent::element;
    args.tensors.push_back({output.tensor.name, is_reduced ? reduced_view(output, type, extents)
                                                           : fake_view(p, output.tensor, type)});
  }
}

bool takes_expression(const KernelMetadata& kernel, const WideParts& parts) {
  if (kernel.design.copy_engine != CopyEngine::tma) return gemm::takes_wide(kernel, parts);
  if (kernel.operands.scales != ScaleSupport::none) return false;
  const std::int64_t least = bytes_of(kernel.operands.out.dtype) == 1 ? 256 : 128;
  const std::int64_t groups = parts.pairs ? 256 : 128;
  return (!parts.pairs || kernel.design.tile.n % least == 0) &&
         (!parts.groups || kernel.design.tile.n % groups == 0);
}

void make_expression(Problem& p, const WideParts& parts) {
  p.epilogue = {};
  // Halves of whole accesses, whatever the types.
  if (parts.pairs) p.n = (p.n + 31) / 32 * 32;
  p.expression = every_shape(p, parts);
  p.of_each = {"column", "bias"};
}

void draw_expression(Problem& p, Dice& dice) {
  if (dice.one_in(2)) return make_expression(p, {});
  p.epilogue = {};
  const WideParts parts = {};
  p.expression = random_expression(partial_type(p.sums()), p.out.dtype, parts, dice);
  for (const expression::Tensor& input : p.expression->inputs()) {
    if (may_be_of_each(input, p.form) && dice.one_in(2)) p.of_each.push_back(input.name);
  }
}

void add_random_expression(GroupedGemmArguments& args, const WideParts& parts, Dice& dice) {
  const DType accumulator = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  args.expression = random_expression(partial_type(accumulator), args.out.dtype, parts, dice);
  const Extents out = extents_of(args.out);
  const std::int64_t groups = out.entries > 0 ? out.entries : args.b.extents[0];
  for (const expression::Tensor& input : args.expression->inputs()) {
    ExpressionTensor tensor = {input.name};
    if (*input.shape != Shape::scalar || is_fp8(input.dtype) || dice.one_in(2)) {
      tensor.view = random_tensor(out, input, groups, {.plain = dice.one_in(2)}, dice);
    } else {
      tensor.value = is_integer(input.dtype) ? static_cast<double>(dice.between(-20, 20)) : dice.fraction();
    }
    args.tensors.push_back(tensor);
  }
  for (std::size_t i = 0; i < args.expression->outputs().size(); ++i) {
    const expression::Output& output = args.expression->outputs()[i];
    if (output.tensor.name == "out") continue;
    const DType type = gemm::type_of_output(*args.expression, i);
    const Storage storage = {.plain = dice.one_in(2), .is_output = true};
    expression::Tensor declared = output.tensor;
    declared.dtype = type;
    const bool is_reduced = output.extent != expression::Extent::element;
    args.tensors.push_back({output.tensor.name, is_reduced
                                                    ? reduced_view(output, type, out)
                                                    : random_tensor(out, declared, groups, storage, dice)});
  }
}

}  // namespace quarry::lab::grouped_gemm
