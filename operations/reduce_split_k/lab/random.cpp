#include "common/config_parts.hpp"
#include "lab/problems/dice.hpp"
#include "lab/verify/draw.hpp"
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

}  // namespace

std::string Lab::result_key(const KernelMetadata& kernel) {
  return KeyText()
      .add(kernel.operands.accumulator)
      .add(kernel.operands.out.dtype)
      .add_if(kernel.epilogue.activation, "activation")
      .add_if(kernel.epilogue.bias, "bias")
      .add_if(is_interleaved(kernel.operands.out.layout), "whole");
}

std::string Lab::storage_key(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  return KeyText().add(o.out.layout).add(o.out.alignment).add(o.c.layout).add(o.c.alignment);
}

Problem Lab::random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
  constexpr int slices[] = {1, 2, 2, 3, 5, 8, 17};
  Dice dice(seed);
  const OperandsMetadata& operands = kernel.operands;
  Problem problem{.partials = {.dtype = operands.accumulator}, .out = {.dtype = operands.out.dtype}};
  const bool is_small = number % 3 == 1;
  problem.m = is_small ? small_size(dice) : dice.between(17, 330);
  problem.n = is_small ? small_size(dice) : dice.between(17, 330);
  if (is_interleaved(operands.out.layout)) problem.m = whole(problem.m), problem.n = whole(problem.n);
  problem.slices = dice.one_of(slices);
  if (dice.one_in(4)) problem.batch = dice.between(1, 3);
  const DType compute = compute_type(operands.accumulator, operands.out.dtype);
  draw_epilogue(kernel.epilogue, compute, operands.out.dtype, problem.epilogue, dice);
  fit_integers(problem);
  return problem;
}

Problem Lab::stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed) {
  Dice dice(seed);
  Problem result = problem;
  const OutputStorage storage = output_storage(kernel, problem.out.dtype, dice);
  result.partials.alignment = dice.one_in(2) ? 1 : 4;
  OutputSpec output = problem.output();
  store_output(storage, output, result.epilogue, dice);
  result.out = output.out;
  return result;
}

Problem Lab::emulated(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
  Problem problem = random(kernel, seed, number);
  if (number % 6 >= 3) problem.batch = 2;
  return stored(problem, kernel, seed);
}

}  // namespace quarry::lab::reduce_split_k
