#include "gemm/reductions.hpp"

#include <algorithm>
#include <string>

#include "gemm/expression_params.hpp"
#include "quarry/expression.hpp"

namespace quarry {
namespace {

constexpr std::int64_t slot_bytes = 8;

/// Slots of the workspace, by what they are of; see ReductionParams.
struct Slots {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t all;
};

std::int64_t output_columns(const GemmProblem& problem) {
  return problem.wide.gated ? problem.n / 2 : problem.n;
}

/// Pieces of so many rows that rows of the output are in: of each entry of a batch; or of groups of rows,
/// wherever they begin. Then each group has at most one piece that is not whole.
std::int64_t pieces_of(const GemmProblem& problem, std::int64_t entry_pieces, int rows) {
  if (const auto groups = problem.expressed.column_entries) return problem.m / rows + *groups;
  return problem.batch * entry_pieces;
}

/// How many parts there are of a row, of the columns of all entries together, of all.
Slots parts_of(const GemmTraits& kernel, const GemmProblem& problem) {
  const std::int64_t tiles_m = tiles_along(problem.m, kernel.tile.m);
  const std::int64_t tiles_n = tiles_along(problem.n, kernel.tile.n);
  const int warps = kernel.threads / 32;
  const auto of_tile = [&](int parts) { return std::int64_t{parts == 0 ? warps : parts}; };
  // Warps have columns of all rows of a tile, or of some.
  const int pieces = std::max(kernel.column_parts, 1);
  const std::int64_t of_piece = kernel.column_parts == 0 ? warps : 1;
  return {tiles_n * of_tile(kernel.row_parts),
          pieces_of(problem, tiles_m * pieces, kernel.tile.m / pieces) * of_piece,
          pieces_of(problem, tiles_m, kernel.tile.m) * tiles_n * of_tile(kernel.all_parts)};
}

Slots slots_of(const GemmTraits& kernel, const GemmProblem& problem) {
  const Slots parts = parts_of(kernel, problem);
  const WideNeeds& wide = problem.wide;
  return {wide.rows * parts.rows * problem.batch * problem.m,
          wide.columns * parts.columns * output_columns(problem), wide.all * parts.all};
}

/// Lines of columns: of each entry of a batch, or of each group of rows.
std::int64_t column_lines(const GemmProblem& problem) {
  return problem.expressed.column_entries.value_or(problem.batch) * output_columns(problem);
}

ReductionParams& reductions_of(Launch& launch, const Step& step) {
  const std::size_t behind = sizeof(ExpressionParams) + sizeof(ReductionParams);
  return *reinterpret_cast<ReductionParams*>(launch.image + step.at + step.bytes - behind);
}

void fill(const GemmTraits& kernel, const GemmProblem& problem, std::size_t parts_at, bool is_finish,
          const Step& step, Launch& launch) {
  const Slots slots = slots_of(kernel, problem);
  ReductionParams& params = reductions_of(launch, step);
  params.columns_at = slots.rows;
  params.all_at = slots.rows + slots.columns;
  const Slots parts = parts_of(kernel, problem);
  params.row_parts = parts.rows;
  params.column_parts = parts.columns;
  params.all_parts = parts.all;
  params.is_finish = is_finish;
  if (slots.rows + slots.columns + slots.all > 0)
    relocate(launch, params.partials, Operand::workspace, parts_at);
}

Status unsupported(std::string why) { return {StatusCode::unsupported, std::move(why)}; }

}  // namespace

Status check_wide(const GemmTraits& kernel, const GemmProblem& problem) {
  const WideNeeds& wide = problem.wide;
  if (problem.is_exchanged && (wide.gated || wide.groups + wide.rows + wide.columns > 0)) {
    return unsupported(
        "Gated pairs and reductions of rows, columns and groups are computed by kernels whose `out` is "
        "row-major");
  }
  if (wide.gated) {
    const bool by_rows = kernel.layouts.b == Layout::row && !wide.eights;
    const int unit = wide.eights ? kernel.eights_columns : kernel.gated_columns;
    if (is_interleaved(kernel.layouts.b))
      return unsupported("Gated pairs are not computed of an interleaved operand `b`");
    if (unit == 0 || kernel.tile.n / 2 % unit != 0)
      return unsupported("Tiles of " + std::to_string(kernel.tile.n) +
                         " columns are not computed of gated pairs: their halves are not whole accesses");
    if (by_rows && problem.n / 2 % std::max(kernel.alignment.b, 1) != 0) {
      return unsupported("The halves of operand `b` are a gated pair: expected a multiple of " +
                         std::to_string(kernel.alignment.b) + " columns each, got " +
                         std::to_string(problem.n / 2));
    }
  }
  const int block_columns = kernel.tile.n / kernel.cluster_n;
  const int columns = wide.gated ? block_columns / 2 : block_columns;
  if (wide.groups > 0 && columns % expression::group_columns != 0) {
    return unsupported(
        "Groups of 128 columns are reduced by kernels whose tiles are multiples of 128 columns" +
        std::string(wide.gated ? " (256 of gated pairs)" : "") + ", not " + std::to_string(block_columns));
  }
  return {};
}

std::size_t reduction_bytes(const GemmTraits& kernel, const GemmProblem& problem) {
  const Slots slots = slots_of(kernel, problem);
  return static_cast<std::size_t>((slots.rows + slots.columns + slots.all) * slot_bytes);
}

double reduction_seconds(const GemmProfile& kernel, const GemmProblem& problem) {
  if (!problem.wide.has_lines()) return 0;
  const double bytes = 2.0 * static_cast<double>(reduction_bytes(kernel.traits, problem));
  return kernel.rates->launch.next + bytes * kernel.memory_byte;
}

void add_finish(Launch& launch, const GemmTraits& kernel, const GemmProblem& problem,
                const ReducedSteps& steps) {
  if (const Step* const first = kernel_step(launch))
    fill(kernel, problem, steps.parts_at, false, *first, launch);
  std::int64_t lines = 0;
  if (problem.wide.rows > 0) lines += static_cast<std::int64_t>(problem.batch) * problem.m;
  if (problem.wide.columns > 0) lines += column_lines(problem);
  const std::int64_t threads = kernel.threads;
  const std::int64_t blocks = (lines + threads - 1) / threads + (problem.wide.all > 0 ? 1 : 0);
  if (blocks == 0) return;
  Step& step = add_kernel(launch, 0, steps.params_bytes);
  auto& params = params_of<GemmParams>(launch, step);
  params.m = problem.m;
  params.n = problem.n;
  params.batch = problem.batch;
  params.tiles_m = tiles_along(problem.m, kernel.tile.m);
  params.tiles_n = tiles_along(problem.n, kernel.tile.n);
  step.grid = static_cast<unsigned>(blocks);
  step.threads = static_cast<unsigned>(kernel.threads);
  step.shared_memory = static_cast<unsigned>(kernel.shared_memory);
  fill(kernel, problem, steps.parts_at, true, step, launch);
}

}  // namespace quarry
