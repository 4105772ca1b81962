#include "operations/gemm_list/lab/expression.hpp"

#include <array>

#include "common/config_parts.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm/expression.hpp"

namespace quarry::lab::gemm_list {
namespace {

using expression::Shape;
using gemm::PartExtents;
using gemm::WideParts;

PartExtents extents_of(const Problem& p) {
  return {p.count(), p.bounds.m, p.output_columns(), p.count(), p.table_rows};
}

}  // namespace

void read_expression(SettingReader& reader, Problem& p) {
  gemm::read_part_expression(reader, p, extents_of(p));
}

std::string expression_text(const Problem& p) { return gemm::part_expression_text(p); }

void add_expression(const Problem& p, GemmListArguments& args) {
  gemm::add_part_expression(p, extents_of(p), args);
}

bool takes_expression(const KernelMetadata& kernel, const WideParts& parts) {
  return gemm::takes_part_expression(kernel, parts);
}

void make_expression(Problem& p, const WideParts& parts) {
  p.epilogue = {};
  // Halves of whole accesses, whatever the types.
  if (parts.pairs) p.bounds.n = (p.bounds.n + 31) / 32 * 32;
  p.expression = gemm::every_part_shape({p.a.dtype, p.b.dtype, p.sums(), p.out.dtype}, p.bounds.k, parts);
  p.of_each = {"column", "bias", "row"};
}

void make_gathered_expression(Problem& p) {
  p.epilogue = {};
  p.table_rows = gemm::gathered_rows;
  p.expression = gemm::gathered_expression({p.a.dtype, p.b.dtype, p.sums(), p.out.dtype}, p.bounds.k);
  p.of_each = {"other", "column"};
}

void draw_expression(Problem& p, const WideParts& parts, Dice& dice) {
  make_expression(p, parts);
  if (dice.one_in(2)) return;
  p.of_each.clear();
  p.expression = gemm::random_part_expression(partial_type(p.sums()), p.out.dtype, parts, dice);
  for (const expression::Tensor& input : p.expression->inputs()) {
    if (gemm::may_have_parts(input, extents_of(p)) && dice.one_in(2)) p.of_each.push_back(input.name);
  }
}

void fit_pairs(Problem& p, const KernelMetadata& kernel, bool is_spoiled) {
  if (!p.is_gated()) return;
  const OperandMetadata& b = kernel.operands.b;
  const bool eights = p.expression->pairs() == expression::Pairs::eights;
  const int unit = pair_unit(eights, b.layout, b.alignment);
  for (ListExtents& each : p.sizes) {
    if (each.n < 0 || each.n > p.bounds.n) continue;
    const int rest = each.n % unit;
    each.n -= rest;
    if (is_spoiled && rest > 0) each.n += eights ? 9 : 1;
  }
}

void add_random_expression(GemmListArguments& args, const WideParts& parts, Dice& dice) {
  const DType accumulator = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  args.expression = gemm::random_part_expression(partial_type(accumulator), args.out.dtype, parts, dice);
  const TensorView& out = args.out;
  args.tensors = gemm::random_part_tensors(
      *args.expression, {out.extents[0], out.extents[1], out.extents[2], out.extents[0], 0}, dice);
}

std::vector<ExpressionTensor> tensors_of(const GemmListArguments& args, int problem, std::int64_t row,
                                         std::int64_t rows, std::int64_t columns) {
  const TensorView& out = args.out;
  const std::array<std::int64_t, 4> extents = {1, out.extents[0], out.extents[1], out.extents[2]};
  std::vector<ExpressionTensor> tensors = args.tensors;
  for (const detail::OwnTensor& own : detail::own_tensors(*args.expression)) {
    const ExpressionTensor& given = *detail::find_tensor(args.tensors, own.declared.name);
    if (given.view.dtype == DType::none) continue;
    const Shape shape = *own.declared.shape;
    std::array<long long, 4> strides = {};
    (void)detail::put_strides(given, shape, own.is_output, detail::extents_after(own.extent, extents),
                              strides);
    const std::int64_t own_columns = detail::extents_after(own.extent, {1, 1, rows, columns})[3];
    const bool is_table = shape == Shape::gathered;
    const std::int64_t first = problem * strides[1] + (is_table ? 0 : row * strides[2]);
    const void* const data = static_cast<const char*>(given.view.data) + first * bytes_of(given.view.dtype);
    TensorView& view = tensors[static_cast<std::size_t>(&given - args.tensors.data())].view;
    if (detail::is_matrix(shape) || is_table) {
      const std::array<std::int64_t, 2> of = {is_table ? detail::rows_of(given.view) : rows, own_columns};
      view = TensorView::strided(data, view.dtype, of, std::array<std::int64_t, 2>{strides[2], strides[3]});
    } else if (shape != Shape::scalar) {
      const std::array<std::int64_t, 1> of = {shape == Shape::per_row ? rows : columns};
      view = TensorView::strided(data, view.dtype, of,
                                 std::array<std::int64_t, 1>{strides[shape == Shape::per_row ? 2 : 3]});
    } else {
      view = TensorView::vector(data, view.dtype, 1);
    }
  }
  return tensors;
}

}  // namespace quarry::lab::gemm_list
