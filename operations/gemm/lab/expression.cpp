#include "operations/gemm/lab/expression.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "basic/text.hpp"
#include "common/config_parts.hpp"
#include "gemm/expression_params.hpp"
#include "lab/campaign/draw_tensor.hpp"
#include "lab/expression/random.hpp"
#include "lab/problems/byte_sums.hpp"
#include "lab/problems/problem_text.hpp"
#include "operations/common/expression/graph.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm/expression.hpp"

namespace quarry::lab::gemm {
namespace {

using expression::Declarations;
using expression::Shape;

bool is_input(const Expression& expression, std::string_view name) {
  return std::ranges::any_of(expression.inputs(), [&](const auto& input) { return input.name == name; });
}

/// The place of a tensor in the arguments' list: inputs, then outputs but `out`.
Operand operand_of(const Expression& expression, std::string_view name) {
  const auto inputs = expression.inputs();
  const auto at = std::ranges::find(inputs, name, &expression::Tensor::name) - inputs.begin();
  return at < tensor_operands ? tensor_operand(static_cast<int>(at)) : Operand::none;
}

/// A matrix of the output's columns, as aligned as the output, and with longer lines where these have any.
TensorView matrix_view(const Problem& p, DType type, Layout layout, std::int64_t rows) {
  OperandSpec spec = {.dtype = type, .layout = layout};
  spec.alignment = std::min(p.out.alignment, std::max(1, 128 / bits_of(type)));
  if (p.out.ld > 0) {
    const std::int64_t unit = std::max(spec.alignment, 1);
    spec.ld = (layout == Layout::row ? p.output_columns() : rows) / unit * unit + 2 * unit;
  }
  return view_of(spec, p.batch, rows, p.output_columns());
}

/// Extents of an output.
struct ExtentsOfOutputs {
  std::int64_t batch, rows, columns;
};

/// The tensor of an output for a batch: a line for each entry.
TensorView lines_view(std::int64_t batch, DType type, std::int64_t length) {
  return batch > 1 ? TensorView::row_major(nullptr, type, {batch, length})
                   : TensorView::vector(nullptr, type, length);
}

/// The tensor of what a reduction leaves.
TensorView reduced_view(const ExtentsOfOutputs& of, const expression::Output& output, DType type) {
  const std::int64_t groups = (of.columns + expression::group_columns - 1) / expression::group_columns;
  switch (output.extent) {
    case expression::Extent::row: return lines_view(of.batch, type, of.rows);
    case expression::Extent::column: return lines_view(of.batch, type, of.columns);
    case expression::Extent::all: return TensorView::vector(nullptr, type, 1);
    default: break;
  }
  const Layout layout = *output.tensor.shape == Shape::row ? Layout::row : Layout::column;
  return view_of({.dtype = type, .layout = layout}, of.batch, of.rows, groups);
}

TensorView fake_view(const Problem& p, const expression::Tensor& tensor, DType type) {
  if (!p.in_place.empty() && tensor.name == p.in_place) {
    TensorView view = view_of(p.out, p.batch, p.m, p.output_columns());
    view.dtype = type;
    return view;
  }
  switch (*tensor.shape) {
    case Shape::scalar: return TensorView::vector(nullptr, type, 1);
    case Shape::per_row: return TensorView::vector(nullptr, type, p.m);
    case Shape::per_column: return TensorView::vector(nullptr, type, p.output_columns());
    case Shape::gathered: return matrix_view(p, type, Layout::row, p.table_rows > 0 ? p.table_rows : p.m);
    default: return matrix_view(p, type, *tensor.shape == Shape::row ? Layout::row : Layout::column, p.m);
  }
}

/// Whether scales of blocks make f32 of its sums.
bool is_promoted(const Problem& p) { return p.expressed_sums() != partial_type(p.sums()); }

/// moderate_sum of a problem.
std::string sum_text(const Problem& p, const std::string& sum = "sum") {
  return moderate_sum({p.a.dtype, p.b.dtype, p.sums(), p.out.dtype}, p.k, sum, is_promoted(p));
}

/// Tensors of all shapes and several types, and an output more.
Expression every_shape(const Problem& p) {
  const std::string text = "z = " + sum_text(p) + " * s + column; out = gelu(z) * m - row + relu(t); z16 = z";
  const std::string with =
      "s=f32:scalar,column=bf16:per_column,row=f16:per_row,m=bf16:row,t=f32:col,z16=f16:row";
  return *Expression::parse(text, *Declarations::parse(with, p.expressed_sums()));
}

/// A fake tensor beside an output, stored in any way.
TensorView random_tensor(const TensorView& out, const expression::Tensor& tensor, const Storage& storage,
                         Dice& dice) {
  const bool is_table = *tensor.shape == Shape::gathered;
  const std::int64_t rows = is_table ? dice.between(0, 60) : out.extents[out.rank - 2U];
  const std::int64_t columns = out.extents[out.rank - 1U];
  const bool is_shared = out.rank < 3 || (!storage.is_output && dice.one_in(3));
  switch (*tensor.shape) {
    case Shape::scalar: return TensorView::vector(nullptr, tensor.dtype, 1);
    case Shape::per_row: return TensorView::vector(nullptr, tensor.dtype, rows);
    case Shape::per_column: return TensorView::vector(nullptr, tensor.dtype, columns);
    default: return random_matrix(tensor.dtype, storage, is_shared ? 0 : out.extents[0], rows, columns, dice);
  }
}

}  // namespace

DType type_of_output(const Expression& expression, std::size_t output) {
  const DType declared = expression.outputs()[output].tensor.dtype;
  if (declared != DType::none) return declared;
  const detail::ExpressionGraph& graph = expression.graph();
  return detail::element_of(graph.nodes[graph.roots[output]].type);
}

std::string moderate_sum(const Types& types, std::int64_t terms, const std::string& sum, bool is_promoted) {
  const DType sums = expressed_type(types.accumulator, is_promoted);
  const std::string of_f32 = sums == DType::f32 ? sum : "f32(" + sum + ")";
  if (!is_integer(types.accumulator)) return of_f32;
  const double alpha = alpha_of_byte_sums(types.a, types.b, types.out, terms);
  return "(" + of_f32 + " * " + number_text(alpha) + ")";
}

Expression random_expression_of(DType sums, DType out, Dice& dice, const WideParts& parts) {
  const ExpressionLimits limits = {.sum = sums,
                                   .depth = static_cast<int>(dice.between(1, 3)),
                                   .inputs = 4,
                                   .more_outputs = 2,
                                   .reductions = parts.lines,
                                   .groups = parts.groups,
                                   .pairs = parts.pairs};
  return random_kernel_expression(dice, limits, out, false);
}

void read_expression(SettingReader& reader, DType sums, std::optional<Expression>& expression,
                     std::string& in_place) {
  const DType sum = partial_type(sums);
  const auto declared =
      reader.read("with", [&](std::string_view text) { return Declarations::parse(text, sum); });
  const std::string_view text = reader.text("epilogue");
  if (text.empty()) {
    for (const std::string_view flag : {"with", "in-place"}) {
      if (!reader.text(flag).empty())
        reader.fail(flag, Status(StatusCode::parse_error, "there is no expression; say --epilogue, too"));
    }
    return;
  }
  const Declarations none = {.sum = sum};
  Result<Expression> parsed = Expression::parse(text, declared ? *declared : none);
  if (!parsed) return reader.fail("epilogue", parsed.status());
  expression = *parsed;
  in_place = reader.text("in-place");
  if (!in_place.empty() && !is_input(*expression, in_place))
    reader.fail("in-place", Status(StatusCode::parse_error,
                                   "expected an input of the expression, got " + detail::quoted(in_place)));
}

std::string expression_text(const std::optional<Expression>& expression, const std::string& in_place) {
  if (!expression) return "";
  std::string text = flag_text("epilogue", "'" + expression->text() + "'");
  const std::string with = expression->declarations().text();
  if (!with.empty()) text += flag_text("with", with);
  if (!in_place.empty()) text += flag_text("in-place", in_place);
  return text;
}

void add_expression(const Problem& p, GemmArguments& args) {
  if (!p.expression) return;
  args.expression = p.expression;
  for (const expression::Tensor& input : p.expression->inputs())
    args.tensors.push_back({input.name, fake_view(p, input, input.dtype)});
  for (std::size_t i = 0; i < p.expression->outputs().size(); ++i) {
    const expression::Tensor& output = p.expression->outputs()[i].tensor;
    if (output.name == "out") continue;
    const DType type = type_of_output(*p.expression, i);
    const bool is_reduced = p.expression->outputs()[i].extent != expression::Extent::element;
    const ExtentsOfOutputs extents = {p.batch, p.m, p.output_columns()};
    args.tensors.push_back({output.name, is_reduced ? reduced_view(extents, p.expression->outputs()[i], type)
                                                    : fake_view(p, output, type)});
  }
}

Operand in_place_tensor(const std::optional<Expression>& expression, const std::string& in_place) {
  return expression && !in_place.empty() ? operand_of(*expression, in_place) : Operand::none;
}

bool promotes_beside_expressions(const KernelMetadata& kernel) {
  const OperandsMetadata& operands = kernel.operands;
  return operands.scales == ScaleSupport::block_scales &&
         bits_of(operands.a.dtype) == bits_of(operands.b.dtype);
}

bool takes_expressions(const KernelMetadata& kernel) {
  return !is_interleaved(kernel.operands.out.layout) &&
         (kernel.operands.scales == ScaleSupport::none || promotes_beside_expressions(kernel));
}

void draw_promotion(Problem& p, Dice& dice) {
  using enum ScaleGranularity;
  if (is_fp8(p.a.dtype) && dice.one_in(4)) {
    p.accumulation = Accumulation::precise;
    return;
  }
  const std::int64_t which = dice.between(0, 3);
  if (which != 1) p.a_scale = block_1x128;
  if (which != 2) p.b_scale = dice.one_in(2) ? block_1x128 : block_128x128;
}

void draw_expression(Problem& p, Dice& dice) {
  p.epilogue = {};
  if (dice.one_in(2)) {
    p.expression = every_shape(p);
    return;
  }
  p.expression = random_expression_of(p.expressed_sums(), p.out.dtype, dice);
}

Expression gathered_expression(const Types& types, std::int64_t terms, bool is_promoted) {
  const std::string text = "z = " + moderate_sum(types, terms, "sum", is_promoted) +
                           " + table[index]; out = relu(z) * column + other[index] * f32(own[of_own])";
  const std::string with =
      "table=bf16:gathered,index=s32:per_row,column=f32:per_column,other=f32:gathered,own=s8:gathered,"
      "of_own=s32:per_row";
  return *Expression::parse(text, *Declarations::parse(with, expressed_type(types.accumulator, is_promoted)));
}

void draw_gathered_expression(Problem& p, Dice& dice) {
  p.epilogue = {};
  p.table_rows = dice.between(3, 40);
  p.expression = gathered_expression({p.a.dtype, p.b.dtype, p.sums(), p.out.dtype}, p.k, is_promoted(p));
}

/// Whether a tile's columns of the output are whole groups, if there are groups.
static bool has_whole_groups(const KernelMetadata& kernel, const WideParts& parts) {
  return !parts.groups || kernel.design.tile.n % (parts.pairs ? 256 : 128) == 0;
}

/// The halves of tiles that are computed of gated pairs are whole boxes, of 128 bytes at most.
static bool takes_wide_on_hopper(const KernelMetadata& kernel, const WideParts& parts) {
  if (kernel.design.orientation == Orientation::exchanged || !has_whole_groups(kernel, parts)) return false;
  const int least = bytes_of(kernel.operands.out.dtype) == 1 ? 256 : 128;
  const bool is_copied = parts.eights || kernel.design.copy_engine == CopyEngine::tma;
  return !parts.pairs || (is_copied && kernel.design.tile.n % least == 0);
}

bool takes_wide(const KernelMetadata& kernel, const WideParts& parts) {
  if (!takes_expressions(kernel)) return false;
  const bool maps_tensors = kernel.design.orientation.has_value();
  if (maps_tensors) return takes_wide_on_hopper(kernel, parts);
  if (kernel.operands.out.layout != Layout::row) return false;
  const int least = parts.eights ? 16 : 64;
  if (parts.pairs && (kernel.design.tile.n % least != 0 || is_interleaved(kernel.operands.b.layout)))
    return false;
  return has_whole_groups(kernel, parts);
}

/// The two sums of a pair.
static std::string gate_text(const Problem& p, const WideParts& parts) {
  return sum_text(p, parts.eights ? "gate8(sum)" : "gate(sum)");
}
static std::string up_text(const Problem& p, const WideParts& parts) {
  return sum_text(p, parts.eights ? "up8(sum)" : "up(sum)");
}

/// Whether an expression has such parts; of lines and groups together, groups are enough.
static bool has_parts(const Expression& expression, const WideParts& parts) {
  const detail::ReductionCounts counts = detail::reduction_counts(expression);
  if (expression.is_gated() != parts.pairs) return false;
  if ((expression.pairs() == expression::Pairs::eights) != parts.eights) return false;
  return parts.groups ? counts.groups > 0 : counts.has_lines() == parts.lines;
}

/// The expression with reductions of rows, columns and all besides, to which each element adds something;
/// nothing where that makes too many tensors.
static std::optional<Expression> with_all_lines(const Expression& drawn, const Problem& p,
                                                const WideParts& parts) {
  const std::string sums = parts.pairs ? gate_text(p, parts) + " - " + up_text(p, parts) : sum_text(p);
  const std::string text = drawn.text() + "; size = abs(" + sums +
                           "); of_rows = row_sum(size); of_columns = column_sum(size); of_all = sum(size)";
  const Result<Expression> all = Expression::parse(text, drawn.declarations());
  const bool fits = all && all->inputs().size() + all->outputs().size() <= gemm_expression_tensors;
  return fits ? std::optional(*all) : std::nullopt;
}

/// A random expression with such parts; lines without groups are of every kind.
static Expression random_wide(const Problem& p, const WideParts& parts, Dice& dice) {
  while (true) {
    const Expression drawn = random_expression_of(p.expressed_sums(), p.out.dtype, dice, parts);
    if (!has_parts(drawn, parts)) continue;
    if (!parts.lines || parts.groups) return drawn;
    if (const auto all = with_all_lines(drawn, p, parts)) return *all;
  }
}

void draw_wide_expression(Problem& p, const WideParts& parts, Dice& dice) {
  p.epilogue = {};
  // Halves of whole accesses, whatever the types.
  if (parts.pairs) p.n = (p.n + 31) / 32 * 32;
  const bool may_hide_sums =
      parts.eights && !parts.lines;  // one of the two, in what a random one rounds away
  if (!may_hide_sums && dice.one_in(2)) {
    p.expression = random_wide(p, parts, dice);
    return;
  }
  std::string text = "z = " + sum_text(p);
  if (parts.pairs) text = "g = " + gate_text(p, parts) + "; z = silu(g) * " + up_text(p, parts);
  if (parts.groups) {
    text += " + column; scale = group_max(abs(z)) / 448; out = z / scale; amax = max(abs(z))";
  } else if (parts.lines) {
    text +=
        " + column; out = relu(z); squares = row_sum(z * z) * row; most = row_max(abs(z)); "
        "total = column_sum(z) + column; amax = max(abs(z)); all = sum(z)";
  } else {
    text += "; out = z + column";
  }
  std::string with = "column=f32:per_column";
  if (parts.groups) {
    with += ",scale=f32:col";
  } else if (parts.lines) {
    with += ",row=f16:per_row";
  }
  p.expression = *Expression::parse(text, *Declarations::parse(with, p.expressed_sums()));
}

WideParts wide_parts(const Expression& expression) {
  const detail::ReductionCounts counts = detail::reduction_counts(expression);
  return {counts.has_lines(), counts.groups > 0, expression.is_gated(),
          expression.pairs() == expression::Pairs::eights};
}

void add_random_expression(GemmArguments& args, const WideParts& parts, Dice& dice) {
  const DType accumulator = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  const DType sums = expressed_type(accumulator, detail::has_blocks_of_scales(args));
  do {
    args.expression = random_expression_of(sums, args.out.dtype, dice, parts);
  } while (!has_parts(*args.expression, parts));
  for (const expression::Tensor& input : args.expression->inputs()) {
    ExpressionTensor tensor = {input.name};
    if (*input.shape != Shape::scalar || is_fp8(input.dtype) || dice.one_in(2)) {
      tensor.view = random_tensor(args.out, input, {.plain = dice.one_in(2)}, dice);
    } else {
      tensor.value = is_integer(input.dtype) ? static_cast<double>(dice.between(-20, 20)) : dice.fraction();
    }
    args.tensors.push_back(tensor);
  }
  const TensorView& out = args.out;
  const ExtentsOfOutputs extents = {out.rank == 3 ? out.extents[0] : 1, out.extents[out.rank - 2U],
                                    out.extents[out.rank - 1U]};
  for (std::size_t i = 0; i < args.expression->outputs().size(); ++i) {
    const expression::Output& output = args.expression->outputs()[i];
    if (output.tensor.name == "out") continue;
    const Storage storage = {.plain = dice.one_in(2), .is_output = true};
    const bool is_reduced = output.extent != expression::Extent::element;
    args.tensors.push_back(
        {output.tensor.name, is_reduced ? reduced_view(extents, output, type_of_output(*args.expression, i))
                                        : random_tensor(out, output.tensor, storage, dice)});
  }
}

}  // namespace quarry::lab::gemm
