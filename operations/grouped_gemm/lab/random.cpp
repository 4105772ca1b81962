#include <algorithm>
#include <cmath>

#include "lab/problems/byte_sums.hpp"
#include "lab/problems/dice.hpp"
#include "lab/verify/draw.hpp"
#include "operations/grouped_gemm/lab/beginnings.hpp"
#include "operations/grouped_gemm/lab/expression.hpp"
#include "operations/grouped_gemm/lab/operation.hpp"
#include "operations/grouped_gemm/lab/paths.hpp"
#include "operations/grouped_gemm/lab/sizes.hpp"

namespace quarry::lab::grouped_gemm {
namespace {

void draw_extents(Problem& problem, Dice& dice) {
  const bool is_small = dice.one_in(3);
  const auto extent = [&](std::int64_t most) { return is_small ? small_size(dice) : dice.between(1, most); };
  problem.groups = dice.between(1, 6);
  problem.n = extent(150);
  (problem.form == GroupForm::ragged_k ? problem.m : problem.k) = extent(150);
  problem.room = problem.form == GroupForm::masked ? extent(100) : problem.groups * dice.between(1, 60);
  problem.sizes_are = problem.form == GroupForm::masked || dice.one_in(2) ? SizesAre::counts : SizesAre::ends;
}

/// A problem of all parts at random.
void draw_mixed(const KernelMetadata& kernel, Problem& problem, Dice& dice) {
  draw_epilogue(kernel.epilogue, problem.compute(), problem.out.dtype, problem.epilogue, dice);
  problem.zero_outside = dice.one_in(2);
  draw_extents(problem, dice);
  if (takes_scales(kernel)) draw_scales(kernel, problem, dice);
  draw_sizes(problem, dice);
  if (takes_expression(kernel) && dice.one_in(4)) draw_expression(problem, dice);
  if (!dice.one_in(4)) return;
  spoil_sizes(problem, dice);
  problem.clamp_host_sizes = true;
}

/// As for a GEMM: whole numbers where the epilogue computes in s32, else scaled to the range of a byte by a
/// power of two.
void fit_integers(Problem& problem) {
  if (problem.sums() != DType::s32) return;
  if (problem.compute() == DType::s32) return make_whole(problem.epilogue);
  const std::int64_t k = problem.form == GroupForm::ragged_k ? problem.room : problem.k;
  double& alpha = problem.epilogue.alpha;
  alpha *= alpha_of_byte_sums(problem.a.dtype, problem.b.dtype, problem.out.dtype, k);
  if (is_integer(problem.out.dtype) && alpha != 0)
    alpha = std::copysign(std::exp2(std::floor(std::log2(std::abs(alpha)))), alpha);
}

}  // namespace

std::string Lab::result_key(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  return KeyText()
      .add(o.a.dtype)
      .add(o.b.dtype)
      .add(o.accumulator)
      .add(o.out.dtype)
      .add_if(begins_at_any_row(kernel), "any_row")
      .add_if(begins_at_any_k(kernel), "any_k")
      .add_if(takes_scales(kernel), to_string(kernel.operands.scales));
}

std::string Lab::storage_key(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  return KeyText().add(o.a.layout).add(o.a.alignment).add(o.b.layout).add(o.b.alignment).add(o.out.layout);
}

Problem Lab::random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
  Dice dice(seed);
  const OperandsMetadata& operands = kernel.operands;
  Problem problem;
  problem.a.dtype = operands.a.dtype;
  problem.b.dtype = operands.b.dtype;
  problem.out.dtype = operands.out.dtype;
  problem.accumulator = operands.accumulator;
  problem.form = static_cast<GroupForm>(
      dice.between(begins_at_any_row(kernel) ? 0 : 1, begins_at_any_k(kernel) ? 2 : 1));
  if (number < path_count())
    draw_path(number, kernel, problem, dice);
  else
    draw_mixed(kernel, problem, dice);
  if (!problem.expression) fit_integers(problem);
  return problem;
}

Problem Lab::stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed) {
  Dice dice(seed);
  Problem result = problem;
  const bool is_ragged = problem.form == GroupForm::ragged_k;
  const bool is_asked = problem.out.alignment > 0;
  const auto store = [&](OperandSpec& operand, const OperandMetadata& needed, std::int64_t rows,
                         std::int64_t columns) {
    const int alignment = std::max(needed.alignment, is_byte(operand.dtype) && dice.one_in(2) ? 4 : 1);
    operand = stored_at(operand.dtype, needed.layout, alignment, rows, columns, dice);
  };
  store(result.a, kernel.operands.a, is_ragged ? problem.m : problem.room,
        is_ragged ? problem.room : problem.k);
  store(result.b, kernel.operands.b, is_ragged ? problem.room : problem.k, problem.n);
  OutputSpec output = problem.output();
  store_output(kernel, output, result.epilogue, dice);
  result.out = output.out;
  if (!is_asked && dice.one_in(4))  // the output has any strides
    result.out = stored_at(result.out.dtype, Layout::column, 1, problem.out_rows(), problem.n, dice);
  return result;
}

}  // namespace quarry::lab::grouped_gemm
