#include "common/config_parts.hpp"
#include "lab/problems/dice.hpp"
#include "lab/verify/draw.hpp"
#include "lab/verify/output_paths.hpp"
#include "operations/reduce_split_k/lab/operation.hpp"

namespace quarry::lab::reduce_split_k {
namespace {

/// Sums of integers are any of all numbers: whole numbers where the epilogue computes in s32, else scaled
/// down to where C, the bias and the activation show.
void fit_integers(Problem& problem) {
  const DType sums = problem.partials.dtype;
  if (sums != DType::s32) return;
  if (compute_type(sums, problem.out.dtype) == DType::s32) return make_whole(problem.epilogue);
  problem.epilogue.alpha *= alpha_of_sums(problem.out.dtype);
}

constexpr int slices[] = {1, 2, 2, 3, 5, 8, 17, 43, 121};  // threads share many

void draw_path(std::size_t path, const KernelMetadata& kernel, Problem& problem, Dice& dice) {
  constexpr OutputExtents block = {32, 64};
  const OperandMetadata& out = kernel.operands.out;
  const OutputExtents extents = extents_around(block, out.dtype, out.layout, dice);
  problem.m = extents.m;
  problem.n = extents.n;
  begin_path(problem.out, problem.epilogue, dice);
  problem.partials.alignment = 4;
  if (path == output_paths().size()) {
    problem.partials.alignment = 1;
    return;
  }
  OutputParts parts = {problem.batch, problem.out, problem.epilogue,
                       compute_type(kernel.operands.accumulator, out.dtype)};
  output_paths()[path].draw(parts, dice);
}

void draw_mixed(std::int64_t number, const KernelMetadata& kernel, Problem& problem, Dice& dice) {
  const bool is_small = number % 3 == 1;
  problem.m = is_small ? small_size(dice) : dice.between(17, 330);
  problem.n = is_small ? small_size(dice) : dice.between(17, 330);
  if (dice.one_in(4)) problem.batch = dice.between(1, 3);
  const DType compute = compute_type(kernel.operands.accumulator, kernel.operands.out.dtype);
  draw_epilogue(kernel.epilogue, compute, kernel.operands.out.dtype, problem.epilogue, dice);
}

}  // namespace

std::string Lab::result_key(const KernelMetadata& kernel) {
  return KeyText()
      .add(kernel.operands.accumulator)
      .add(kernel.operands.out.dtype)
      .add(kernel.operands.out.layout)
      .add_if(kernel.epilogue.activation, "activation")
      .add_if(kernel.epilogue.bias, "bias")
      .add_if(is_interleaved(kernel.operands.out.layout), "whole");
}

std::string Lab::storage_key(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  return KeyText().add(o.out.layout).add(o.out.alignment).add(o.c.layout).add(o.c.alignment);
}

std::vector<Path> Lab::paths() {
  std::vector<Path> all;
  for (const OutputPath& each : output_paths()) all.push_back(each.path);
  all.push_back({"unaligned_partials", [](const KernelMetadata&) { return true; }});
  return all;
}

Problem Lab::random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
  Dice dice(seed);
  const OperandsMetadata& operands = kernel.operands;
  Problem problem{.partials = {.dtype = operands.accumulator}, .out = {.dtype = operands.out.dtype}};
  problem.slices = dice.one_of(slices);
  const std::int64_t paths = std::ssize(output_paths()) + 1;
  if (number < paths)
    draw_path(static_cast<std::size_t>(number), kernel, problem, dice);
  else
    draw_mixed(number - paths, kernel, problem, dice);
  if (is_interleaved(operands.out.layout)) problem.m = whole(problem.m), problem.n = whole(problem.n);
  fit_integers(problem);
  return problem;
}

Problem Lab::stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed) {
  Dice dice(seed);
  Problem result = problem;
  if (result.partials.alignment == 0) result.partials.alignment = dice.one_in(2) ? 1 : 4;
  OutputSpec output = problem.output();
  store_output(kernel, output, result.epilogue, dice);
  result.out = output.out;
  return result;
}

}  // namespace quarry::lab::reduce_split_k
