#include <iterator>

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

/// How the matrices of a path are stored, and in how many entries of a batch.
struct OwnPath {
  Path path;
  Layout from = Layout::row;
  Layout to = Layout::column;
  int from_alignment = 4;
  int to_alignment = 4;
  std::int64_t batch = 0;
  bool is_tensor = false;
  bool is_filters = false;
  int rest = 0;  ///< extents are so many more than a multiple of 4
};

bool every_kernel(const KernelMetadata&) { return true; }
bool interleaves(const KernelMetadata& kernel) { return takes_integer_sums(kernel.operands.out.dtype); }

constexpr OwnPath own_paths[] = {
    {.path = {"plain", every_kernel}},
    {.path = {"unaligned_from", every_kernel}, .from_alignment = 1},
    {.path = {"unaligned_to", every_kernel}, .to_alignment = 1},
    {.path = {"same_order", every_kernel}, .to = Layout::row},
    {.path = {"pieces", every_kernel},
     .to = Layout::row,
     .from_alignment = 16,
     .to_alignment = 16,
     .batch = 2},
    {.path = {"turned_pieces", every_kernel},
     .from_alignment = 16,
     .to_alignment = 16,
     .batch = 2,
     .rest = 3},
    {.path = {"turned_groups", interleaves},
     .to = Layout::row_interleaved32,
     .from_alignment = 16,
     .to_alignment = 16},
    {.path = {"batch", every_kernel}, .from = Layout::column, .to = Layout::row, .batch = 3},
    {.path = {"interleaved_from", interleaves}, .from = Layout::column_interleaved32},
    {.path = {"interleaved_to", interleaves}, .to = Layout::row_interleaved32},
    {.path = {"images", interleaves}, .to = Layout::column_interleaved32, .is_tensor = true},
    {.path = {"images_back", interleaves},
     .from = Layout::column_interleaved32,
     .to = Layout::row,
     .is_tensor = true},
    {.path = {"filters", interleaves},
     .to = Layout::column_interleaved32,
     .is_tensor = true,
     .is_filters = true},
};

/// Images of any size, or filters, with channels in groups of 32.
void draw_tensor(const OwnPath& path, Problem& problem, Dice& dice) {
  problem.tensor = {dice.between(1, 5), dice.between(1, 9), dice.between(1, 9), 32 * dice.between(1, 5)};
  problem.is_filters = path.is_filters;
  if (path.is_filters) (*problem.tensor)[0] = dice.between(1, 80);
}

void draw_path(const OwnPath& path, Problem& problem, Dice& dice) {
  const auto size = [&] { return 4 * dice.between(17, 49) + path.rest; };
  problem.m = size();
  problem.n = size();
  problem.batch = path.batch;
  problem.from.layout = path.from;
  problem.from.alignment = path.from_alignment;
  problem.to.layout = path.to;
  problem.to.alignment = path.to_alignment;
  if (path.is_tensor) draw_tensor(path, problem, dice);
}

void draw_mixed(std::int64_t number, Problem& problem, Dice& dice) {
  const bool is_small = number % 3 == 1;
  problem.m = is_small ? small_size(dice) : dice.between(17, 330);
  problem.n = is_small ? small_size(dice) : dice.between(17, 330);
  if (dice.one_in(3)) problem.batch = dice.between(1, 3);
  const int layouts =
      takes_integer_sums(problem.to.dtype) ? layout_count : 2;  // of others, none is interleaved
  problem.from.layout = static_cast<Layout>(dice.between(0, layouts - 1));
  problem.to.layout = static_cast<Layout>(dice.between(0, layouts - 1));
}

}  // namespace

std::string Lab::result_key(const KernelMetadata& kernel) { return KeyText().add(kernel.operands.out.dtype); }

std::string Lab::storage_key(const KernelMetadata& kernel) { return result_key(kernel); }

std::vector<Path> Lab::paths() {
  std::vector<Path> all;
  for (const OwnPath& each : own_paths) all.push_back(each.path);
  return all;
}

Problem Lab::random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
  const DType type = kernel.operands.out.dtype;
  Dice dice = dice_of(seed, type, false);
  Problem problem{.from = {.dtype = type}, .to = {.dtype = type}};
  if (number < std::ssize(own_paths))
    draw_path(own_paths[number], problem, dice);
  else
    draw_mixed(number - std::ssize(own_paths), problem, dice);
  if (is_interleaved(problem.from.layout) || is_interleaved(problem.to.layout))
    problem.m = whole(problem.m), problem.n = whole(problem.n);
  return problem;
}

Problem Lab::stored(const Problem& problem, const KernelMetadata&, std::uint64_t seed) {
  constexpr int alignments[] = {1, 2, 4, 4, 16};
  Dice dice = dice_of(seed, problem.to.dtype, true);
  Problem result = problem;
  for (OperandSpec* operand : {&result.from, &result.to}) {
    const int alignment = operand->alignment > 0 ? operand->alignment : dice.one_of(alignments);
    if (problem.tensor) {
      operand->alignment = alignment;
      continue;
    }
    *operand = stored_at(operand->dtype, operand->layout, alignment, problem.m, problem.n, dice);
  }
  return result;
}

}  // namespace quarry::lab::reorder
