#include "operations/gemm_list/lab/expression.hpp"

#include <array>

#include "common/config_parts.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm/expression.hpp"

namespace quarry::lab::gemm_list {
namespace {

using expression::Shape;
using gemm::PartExtents;

PartExtents extents_of(const Problem& p) {
  return {p.count(), p.bounds.m, p.bounds.n, p.count(), p.table_rows};
}

}  // namespace

void read_expression(SettingReader& reader, Problem& p) {
  gemm::read_part_expression(reader, p, extents_of(p));
}

std::string expression_text(const Problem& p) { return gemm::part_expression_text(p); }

void add_expression(const Problem& p, GemmListArguments& args) {
  gemm::add_part_expression(p, extents_of(p), args);
}

bool takes_expression(const KernelMetadata& kernel) { return kernel.operands.scales == ScaleSupport::none; }

void make_expression(Problem& p) {
  p.epilogue = {};
  p.expression = gemm::every_part_shape({p.a.dtype, p.b.dtype, p.sums(), p.out.dtype}, p.bounds.k, {});
  p.of_each = {"column", "bias", "row"};
}

void make_gathered_expression(Problem& p) {
  p.epilogue = {};
  p.table_rows = gemm::gathered_rows;
  p.expression = gemm::gathered_expression({p.a.dtype, p.b.dtype, p.sums(), p.out.dtype}, p.bounds.k);
  p.of_each = {"other", "column"};
}

void draw_expression(Problem& p, Dice& dice) {
  if (dice.one_in(2)) return make_expression(p);
  p.epilogue = {};
  p.expression = gemm::random_part_expression(partial_type(p.sums()), p.out.dtype, {}, dice);
  for (const expression::Tensor& input : p.expression->inputs()) {
    if (gemm::may_have_parts(input, extents_of(p)) && dice.one_in(2)) p.of_each.push_back(input.name);
  }
}

void add_random_expression(GemmListArguments& args, Dice& dice) {
  const DType accumulator = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  args.expression = gemm::random_part_expression(partial_type(accumulator), args.out.dtype, {}, dice);
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
    (void)detail::put_strides(given, shape, own.is_output, extents, strides);
    const bool is_table = shape == Shape::gathered;
    const std::int64_t first = problem * strides[1] + (is_table ? 0 : row * strides[2]);
    const void* const data = static_cast<const char*>(given.view.data) + first * bytes_of(given.view.dtype);
    TensorView& view = tensors[static_cast<std::size_t>(&given - args.tensors.data())].view;
    if (detail::is_matrix(shape) || is_table) {
      const std::array<std::int64_t, 2> of = {is_table ? detail::rows_of(given.view) : rows, columns};
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
