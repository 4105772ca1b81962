#include "elementwise/steps.hpp"

#include <limits>

#include "elementwise/reduced_params.hpp"

namespace quarry::elementwise {
namespace {

/// About so many warps have work, if there is work for them: set by hand for the largest device.
constexpr long long most_warps = 1 << 14;
/// Rows of a tile, at least and at most, where columns are reduced: more rows leave fewer values to add up.
constexpr long long least_rows = 16;
constexpr long long most_rows = 1 << 12;
/// Chunks of a row that a warp takes rather than give them to another one.
constexpr long long least_chunks = 4;

constexpr std::size_t slot_bytes = 8;

long long divided(long long number, long long by) { return number / by + (number % by != 0); }

/// Whether a tensor has elements. Without elements of the problem, what a reduction leaves may have some.
bool exists(const ElementwiseProblem& problem, int tensor) {
  for (int i = 0; i < elementwise_extents; ++i) {
    if (problem.params.extents[i] == 0 && problem.params.tensors[tensor].strides[i] != 0) return false;
  }
  return true;
}

/// Slots of the workspace, by what they are of.
struct Slots {
  long long rows = 0;
  long long columns = 0;
  long long all = 0;
};

Slots slots_of(const ElementwiseProblem& problem, const ReducedShape& shape) {
  const long long* const e = problem.params.extents;
  Slots slots;
  if (shape.tiles_across != 1) slots.rows = problem.reductions.rows * shape.tiles_across * e[0] * e[1] * e[2];
  slots.columns = problem.reductions.columns * shape.tiles_down * e[0] * e[1] * e[3];
  slots.all = problem.reductions.all * shape.tiles;
  return slots;
}

void fill(const ElementwiseProblem& problem, const ReducedShape& shape, ReducedElementwiseParams& params) {
  const Slots slots = slots_of(problem, shape);
  static_cast<ElementwiseParams&>(params) = problem.params;
  params.columns_at = slots.rows;
  params.all_at = slots.rows + slots.columns;
  params.tiles_across = shape.tiles_across;
  params.tiles_down = shape.tiles_down;
  params.chunks_of_tile = shape.chunks_of_tile;
  params.rows_of_tile = shape.rows_of_tile;
}

void add_step(const Config& c, const ElementwiseProblem& problem, const ReducedShape& shape, bool is_finish,
              Launch& launch) {
  Step& step = add_kernel(launch, 0, sizeof(ReducedElementwiseParams));
  step.grid = static_cast<unsigned>(is_finish ? finish_blocks(c, problem) : reduced_blocks(c, shape));
  step.threads = static_cast<unsigned>(threads(c));
  auto& params = params_of<ReducedElementwiseParams>(launch, step);
  fill(problem, shape, params);
  params.is_finish = is_finish;
  relocate_tensors(problem, params, launch);
  if (launch.workspace_bytes > 0) relocate(launch, params.partials, Operand::workspace);
}

}  // namespace

void relocate_tensors(const ElementwiseProblem& problem, const ElementwiseParams& params, Launch& launch) {
  for (int i = 0; i < problem.tensors; ++i) {
    if (problem.operands[i].name == Operand::none) continue;
    relocate(launch, params.tensors[i].data, problem.operands[i].name);
  }
}

void add_uses(const Config& c, const ElementwiseProblem& problem, Launch& launch) {
  constexpr int innermost = elementwise_extents - 1;
  for (int i = 0; i < problem.tensors; ++i) {
    const ElementwiseOperand& operand = problem.operands[i];
    if (operand.name == Operand::none || !exists(problem, i)) continue;
    const bool together =
        c.elements > 1 && operand.has_elements && problem.params.tensors[i].strides[innermost] == 1;
    const int access = together ? access_bytes(c, element_bytes(problem, i)) : 1;
    const auto alignment = static_cast<std::uint16_t>(std::max(access, bytes_of(operand.type)));
    launch.uses.add({operand.name, operand.type, false, alignment, operand.is_output});
  }
}

ReducedShape reduced_shape(const Config& c, const ElementwiseProblem& problem) {
  const long long* const e = problem.params.extents;
  const long long matrices = e[0] * e[1];
  const long long chunks = divided(e[3], chunk_columns(c));
  const bool has_columns = problem.reductions.columns > 0;
  ReducedShape shape;
  if (element_count(problem) == 0) return shape;
  const long long lines = matrices * e[2];
  // A warp that reduces columns keeps the columns of one chunk.
  long long of_tile =
      has_columns ? 1 : std::max(least_chunks, divided(chunks, std::max(1LL, most_warps / lines)));
  of_tile = std::clamp(of_tile, 1LL, std::max(1LL, chunks));
  shape.tiles_across = divided(chunks, of_tile);
  long long rows = 1;
  if (has_columns || problem.reductions.all > 0) rows = divided(lines * shape.tiles_across, most_warps);
  if (has_columns) rows = std::max(rows, least_rows);
  rows = std::clamp(rows, 1LL, std::min(most_rows, e[2]));
  shape.tiles_down = divided(e[2], rows);
  shape.tiles = matrices * shape.tiles_down * shape.tiles_across;
  shape.chunks_of_tile = static_cast<int>(std::min<long long>(of_tile, std::numeric_limits<int>::max()));
  shape.rows_of_tile = static_cast<int>(rows);
  return shape;
}

long long reduced_blocks(const Config& c, const ReducedShape& shape) {
  return divided(shape.tiles, threads(c) / 32);
}

long long finish_blocks(const Config& c, const ElementwiseProblem& problem) {
  const long long* const e = problem.params.extents;
  const ReducedShape shape = reduced_shape(c, problem);
  long long lines = 0;
  if (problem.reductions.rows > 0 && shape.tiles_across != 1) lines += e[0] * e[1] * e[2];
  if (problem.reductions.columns > 0) lines += e[0] * e[1] * e[3];
  return divided(lines, threads(c)) + (problem.reductions.all > 0 ? 1 : 0);
}

std::size_t reduced_workspace(const Config& c, const ElementwiseProblem& problem) {
  const Slots slots = slots_of(problem, reduced_shape(c, problem));
  constexpr std::size_t alignment = 256;
  const std::size_t bytes = static_cast<std::size_t>(slots.rows + slots.columns + slots.all) * slot_bytes;
  return (bytes + alignment - 1) / alignment * alignment;
}

void launch_reduced(const Config& c, const ElementwiseProblem& problem, Launch& launch) {
  const ReducedShape shape = reduced_shape(c, problem);
  launch.workspace_bytes = reduced_workspace(c, problem);
  if (launch.workspace_bytes > 0) launch.parts.add({"partial values", 0, launch.workspace_bytes});
  if (shape.tiles > 0) add_step(c, problem, shape, false, launch);
  if (finish_blocks(c, problem) > 0) add_step(c, problem, shape, true, launch);
  if (!launch.is_empty()) add_uses(c, problem, launch);
}

}  // namespace quarry::elementwise
