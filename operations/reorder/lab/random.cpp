#include "common/config_parts.hpp"
#include "lab/problems/dice.hpp"
#include "lab/problems/seed.hpp"
#include "lab/verify/draw.hpp"
#include "operations/reorder/lab/operation.hpp"

namespace quarry::lab::reorder {
namespace {

/// Types have problems of their own, so that together they see more; and how a problem is stored does not
/// depend on its sizes.
Dice dice_of(std::uint64_t seed, DType type, bool for_storage) {
  return Dice(derived_seed(seed, 2 * static_cast<std::uint64_t>(type) + (for_storage ? 1 : 0)));
}

}  // namespace

std::string Lab::result_key(const KernelMetadata& kernel) { return KeyText().add(kernel.operands.out.dtype); }

std::string Lab::storage_key(const KernelMetadata& kernel) { return result_key(kernel); }

Problem Lab::random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
  const DType type = kernel.operands.out.dtype;
  Dice dice = dice_of(seed, type, false);
  const bool is_small = number % 3 == 1;
  Problem problem{.from = {.dtype = type}, .to = {.dtype = type}};
  problem.m = is_small ? small_size(dice) : dice.between(17, 330);
  problem.n = is_small ? small_size(dice) : dice.between(17, 330);
  if (dice.one_in(3)) problem.batch = dice.between(1, 3);
  const int layouts = takes_integer_sums(type) ? layout_count : 2;  // of others, none is interleaved
  problem.from.layout = static_cast<Layout>(dice.between(0, layouts - 1));
  problem.to.layout = static_cast<Layout>(dice.between(0, layouts - 1));
  if (is_interleaved(problem.from.layout) || is_interleaved(problem.to.layout))
    problem.m = whole(problem.m), problem.n = whole(problem.n);
  return problem;
}

Problem Lab::stored(const Problem& problem, const KernelMetadata&, std::uint64_t seed) {
  constexpr int alignments[] = {1, 2, 4, 4, 16};
  Dice dice = dice_of(seed, problem.to.dtype, true);
  Problem result = problem;
  for (OperandSpec* operand : {&result.from, &result.to}) {
    *operand =
        stored_at(operand->dtype, operand->layout, dice.one_of(alignments), problem.m, problem.n, dice);
  }
  return result;
}

}  // namespace quarry::lab::reorder
