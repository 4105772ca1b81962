/// The host side that all GEMM families share: which problems a kernel takes, its workspace, its launch. Host
/// only.
///
/// Problems come in the orientation of the kernel's config (see GemmProblem::is_exchanged).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/stream_k.hpp"
#include "gemm/family.hpp"
#include "gemm/profile.hpp"

namespace quarry {

/// size / divisor. Nearly all divisors here are powers of two, and a query is made of divisions. @pre divisor
/// > 0
constexpr unsigned divided(unsigned size, unsigned divisor) {
  if (divisor == 0) __builtin_unreachable();  // or else shifts ask for it
  const bool power_of_two = (divisor & (divisor - 1)) == 0;
  return power_of_two ? size >> std::countr_zero(divisor) : size / divisor;
}

/// Tiles that cover an extent. @pre extent >= 0 and tile > 0
constexpr int tiles_along(int extent, int tile) {
  const auto size = static_cast<unsigned>(tile);
  return static_cast<int>(divided(static_cast<unsigned>(extent) + size - 1, size));
}

/// tiles_along where one tile, or none, mostly does: no division then. @pre as there
constexpr int few_tiles_along(int extent, int tile) {
  return extent <= tile ? extent > 0 : tiles_along(extent, tile);
}

/// The most slices that K can be cut into, 1 at least: each has a K tile to itself.
constexpr int most_slices(const GemmTraits& kernel, const GemmProblem& problem) {
  const int k_tiles = tiles_along(problem.k, kernel.tile.k);
  return k_tiles > 1 ? k_tiles : 1;
}

/// Blocks of the grid with so many slices of K, or where they are too many, some number above grid_limit.
constexpr std::int64_t gemm_blocks(const GemmTraits& kernel, const GemmProblem& problem, int slices) {
  std::int64_t count = static_cast<std::int64_t>(tiles_along(problem.m, kernel.tile.m)) *
                       tiles_along(problem.n, kernel.tile.n);
  if (count > grid_limit) return count;
  count *= problem.batch;
  if (count > grid_limit) return count;
  return count * slices;
}

/// Whether nothing is computed because the output has no elements.
constexpr bool is_empty(const GemmProblem& problem) {
  return problem.m == 0 || problem.n == 0 || problem.batch == 0;
}

/// Controls that do the same with one slice: split-K modes need two.
constexpr ChosenControls simplified(ChosenControls controls) {
  if (controls.mode == Mode::stream_k) {
    controls.split_k_slices = 1;
  } else if (controls.mode == Mode::gemm || controls.split_k_slices <= 1) {
    controls.mode = Mode::gemm;
    controls.split_k_slices = 1;
  }
  return controls;
}

/// How the blocks of a kernel of Schedule::stream_k share a problem: as many of them as run at once, but none
/// with fewer than a few K tiles, or without a tile where tiles stay whole. @pre the output is not empty, and
/// the grid keeps to grid_limit
StreamShares gemm_shares(const GemmTraits& kernel, const GemmProblem& problem,
                         const ChosenControls& controls);

/// How the workspace of a run is laid out: partial sums at its start, then the counters. Offsets are
/// multiples of 256.
struct GemmWorkspace {
  std::size_t partials_bytes = 0;
  std::size_t counters_offset = 0;
  std::size_t counters_bytes = 0;
  /// What reductions of an expression leave, behind the counters.
  std::size_t reductions_offset = 0;
  std::size_t reductions_bytes = 0;
  std::size_t bytes = 0;
};

/// The workspace of a run; empty for one slice, for an empty output, and where stream_k cuts no tile. @pre
/// the grid keeps to grid_limit
GemmWorkspace gemm_workspace(const GemmTraits& kernel, const GemmProblem& problem,
                             const ChosenControls& controls);

constexpr std::size_t workspace_alignment = 256;
constexpr std::size_t rounded_to_workspace(std::size_t bytes) {
  return (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
}

/// Bytes of a partial sum: of partial_type.
constexpr int partial_bytes(const GemmTraits& kernel) { return kernel.accumulator == DType::f64 ? 8 : 4; }

/// The workspace of the sums of split_k_serial or split_k_parallel. @param tiles of the output, over all
/// batch entries. @pre slices >= 2, and the output is not empty
inline GemmWorkspace split_k_workspace(const GemmTraits& kernel, const GemmProblem& problem, Mode mode,
                                       int slices, std::size_t tiles) {
  const auto number = [](int value) { return static_cast<std::size_t>(value); };
  const std::size_t element = number(partial_bytes(kernel));
  GemmWorkspace workspace;
  if (mode == Mode::split_k_parallel) {
    workspace.partials_bytes =
        element * number(slices) * number(problem.batch) * number(problem.m) * number(problem.n);
  } else {
    workspace.partials_bytes = element * tiles * number(kernel.tile.m) * number(kernel.tile.n);
    workspace.counters_bytes = sizeof(int) * (tiles + 1);
  }
  workspace.counters_offset = rounded_to_workspace(workspace.partials_bytes);
  workspace.bytes = workspace.counters_offset + rounded_to_workspace(workspace.counters_bytes);
  return workspace;
}

/// gemm_workspace(...).bytes in these modes, of tiles that were counted: a query asks it for every kernel
/// that may cut K.
inline std::size_t split_k_bytes(const GemmTraits& kernel, const GemmProblem& problem,
                                 const GemmTraffic& traffic, Mode mode, int slices, int tiles) {
  if (slices < 2 || !traffic.keeps_sums_alone)
    return gemm_workspace(kernel, problem, {.mode = mode, .split_k_slices = slices}).bytes;
  return split_k_workspace(kernel, problem, mode, slices, static_cast<std::size_t>(tiles)).bytes;
}

/// Why gemm_supports refuses. @pre it does
Status gemm_refusal(const GemmTraits& kernel, const GemmProblem& problem, const DeviceModel& device);

/// Whether a kernel computes the gated pair and the reductions of a problem's expression.
Status check_wide(const GemmTraits& kernel, const GemmProblem& problem);

/// Whether gemm_supports accepts a problem without gated pairs and reductions. A query asks it of every
/// kernel of a key, so it is there for the families to inline.
inline bool gemm_takes(const GemmTraits& kernel, const GemmProblem& problem, const DeviceModel& device) {
  const int slices = problem.controls.split_k_slices.value_or(1);
  const bool fits_any_grid = slices == 1 && problem.traffic && problem.traffic->fits_any_grid;
  return problem.a.alignment[static_cast<int>(kernel.layouts.a)] >= kernel.alignment.a &&
         problem.b.alignment[static_cast<int>(kernel.layouts.b)] >= kernel.alignment.b &&
         kernel.shared_memory <= device.shared_memory_per_block &&
         (kernel.most_k == 0 || problem.k <= kernel.most_k) &&
         (slices == 1 || slices <= most_slices(kernel, problem)) &&
         (fits_any_grid || gemm_blocks(kernel, problem, slices) <= grid_limit);
}

/// Family::supports for a GEMM kernel.
inline Status gemm_supports(const GemmTraits& kernel, const GemmProblem& problem, const DeviceModel& device) {
  if (!gemm_takes(kernel, problem, device)) return gemm_refusal(kernel, problem, device);
  if (problem.wide.has_any()) return check_wide(kernel, problem);
  return {};
}

/// The caller's name of an operand a or b of a problem in the config's orientation, and the other way round.
constexpr Operand callers(Operand operand, const GemmProblem& problem) {
  if (!problem.is_exchanged) return operand;
  return operand == Operand::a ? Operand::b : Operand::a;
}

/// Family::launch for a GEMM kernel. A problem with an expression gets room for ExpressionParams behind the
/// parameters of Launch::expression_entry, which is left zero.
/// @param params_bytes of its parameters, which begin with GemmParams; the rest of them stays zero
void gemm_launch(const GemmTraits& kernel, const GemmProblem& problem, const ChosenControls& controls,
                 Launch& launch, std::size_t params_bytes = sizeof(GemmParams));

/// Whether a launch reads scales, where there are some. Otherwise they may be nowhere.
constexpr bool reads_scales(const GemmProblem& problem) { return problem.k > 0 && !is_empty(problem); }

/// Adds the scales to a launch that gemm_launch made, and says where they lie from run to run.
/// @param params in the launch's image
void add_scales(Launch& launch, GemmScaleParams& params, const GemmProblem& problem);

/// The same of zero points.
void add_zeros(Launch& launch, GemmZeroParams& params, const GemmProblem& problem);

}  // namespace quarry
