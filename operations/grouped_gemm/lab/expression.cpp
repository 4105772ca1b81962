#include "operations/grouped_gemm/lab/expression.hpp"

#include "common/config_parts.hpp"

namespace quarry::lab::grouped_gemm {
namespace {

using gemm::PartExtents;
using gemm::WideParts;

PartExtents extents_of(const Problem& p) {
  return {p.entries(), p.out_rows(), p.output_columns(), p.said_groups(), p.table_rows};
}

}  // namespace

void read_expression(SettingReader& reader, Problem& p) {
  gemm::read_part_expression(reader, p, extents_of(p));
}

std::string expression_text(const Problem& p) { return gemm::part_expression_text(p); }

void add_expression(const Problem& p, GroupedGemmArguments& args) {
  gemm::add_part_expression(p, extents_of(p), args);
}

bool takes_expression(const KernelMetadata& kernel, const WideParts& parts) {
  return gemm::takes_part_expression(kernel, parts);
}

void make_expression(Problem& p, const WideParts& parts) {
  p.epilogue = {};
  // Halves of whole accesses, whatever the types.
  if (parts.pairs) p.n = (p.n + 31) / 32 * 32;
  const std::int64_t terms = p.form == GroupForm::ragged_k ? p.room : p.k;
  p.expression = gemm::every_part_shape({p.a.dtype, p.b.dtype, p.sums(), p.out.dtype}, terms, parts);
  p.of_each = {"column", "bias"};
}

void make_gathered_expression(Problem& p) {
  p.epilogue = {};
  p.table_rows = gemm::gathered_rows;
  const std::int64_t terms = p.form == GroupForm::ragged_k ? p.room : p.k;
  p.expression = gemm::gathered_expression({p.a.dtype, p.b.dtype, p.sums(), p.out.dtype}, terms);
  p.of_each = {"other", "column"};
}

void draw_expression(Problem& p, Dice& dice) {
  const WideParts parts = {.lines = dice.one_in(3)};
  if (dice.one_in(2)) return make_expression(p, parts);
  p.epilogue = {};
  p.expression = gemm::random_part_expression(partial_type(p.sums()), p.out.dtype, parts, dice);
  for (const expression::Tensor& input : p.expression->inputs()) {
    if (gemm::may_have_parts(input, extents_of(p)) && dice.one_in(2)) p.of_each.push_back(input.name);
  }
}

void add_random_expression(GroupedGemmArguments& args, const WideParts& parts, Dice& dice) {
  const DType accumulator = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  args.expression = gemm::random_part_expression(partial_type(accumulator), args.out.dtype, parts, dice);
  const TensorView& out = args.out;
  const std::int64_t entries = out.rank == 3 ? out.extents[0] : 0;
  const PartExtents of = {entries, out.extents[out.rank - 2U], out.extents[out.rank - 1U],
                          entries > 0 ? entries : args.b.extents[0], 0};
  args.tensors = gemm::random_part_tensors(*args.expression, of, dice);
}

}  // namespace quarry::lab::grouped_gemm
