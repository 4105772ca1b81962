#include "common/gemm_host_estimate.hpp"

#include <cmath>

namespace quarry {
namespace {

/// Seconds for each further operation on the stream.
constexpr double next_operation_seconds = 1.8e-6;
/// Cycles to hand the turn of a split_k_serial tile on, beside the traffic.
constexpr double turn_cycles = 1500;
/// Beyond that, adding up costs more than it brings.
constexpr int most_automatic_slices = 64;

/// What a split-K mode costs for its own sake, and for each slice beyond the first, in seconds.
struct Exchange {
  double once;
  double slice;
};

Exchange exchange(const GemmWork& w, Mode mode) {
  const double partial_bytes = w.kernel.accumulator == DType::f64 ? 8 : 4;
  if (mode == Mode::split_k_parallel) {
    // Partial outputs are written, and read again by the reduction.
    const double outputs = static_cast<double>(w.problem.m) * w.problem.n * w.problem.batch;
    const double slice = 2 * outputs * partial_bytes / (1.5 * w.device.memory_bandwidth);
    return {next_operation_seconds + slice, slice};
  }
  // Clearing the counters comes first. The slices of a tile end at the same time and add one after another.
  const double tile_bytes = w.kernel.tile.m * w.kernel.tile.n * partial_bytes;
  return {next_operation_seconds, (turn_cycles + 2 * tile_bytes * cycles_per_l2_byte) / w.device.clock};
}

/// The number of slices at which one more costs in exchange what it saves of the main loop; no more than run
/// at once, and than have work enough for a pipeline.
int balanced_slices(const GemmWork& w, const Exchange& exchange) {
  const int by_blocks = w.device.multiprocessors * w.resident / std::max(w.blocks, 1);
  const int most = std::min({by_blocks, w.k_tiles / least_k_tiles_per_slice, most_automatic_slices});
  const double step = std::max(busy_cycles(w, 1), w.cost.latency);
  const double balanced = std::sqrt(w.k_tiles * step / (exchange.slice * w.device.clock));
  const int slices = std::max(2, balanced < most ? static_cast<int>(balanced) : most);
  return tiles_along(w.k_tiles, tiles_along(w.k_tiles, slices));  // no slice is left without work
}

/// The best way of cutting K in one mode.
Estimate cut(const GemmWork& w, Mode mode, int swizzle) {
  const Exchange cost = exchange(w, mode);
  const std::optional<int>& fixed = w.problem.controls.split_k_slices;
  const int slices = fixed ? *fixed : balanced_slices(w, cost);
  const double main = kernel_seconds(w, w.blocks * slices, tiles_along(w.k_tiles, slices));
  const ChosenControls controls = {mode, slices, swizzle};
  return {controls, main + cost.once + (slices - 1) * cost.slice,
          gemm_workspace(w.kernel, w.problem, controls).bytes};
}

/// Whether one choice is to be preferred: the faster one of those that the workspace allows, else the one
/// that needs less.
bool better(const Estimate& one, const Estimate& other, std::size_t max_workspace) {
  const bool both_fit = one.workspace <= max_workspace && other.workspace <= max_workspace;
  return both_fit ? one.seconds < other.seconds : one.workspace < other.workspace;
}

}  // namespace

Estimate best_cut(const GemmWork& w, const Estimate& whole, std::size_t max_workspace) {
  if (w.blocks > grid_limit / 2) return whole;  // which only an output without a use for more blocks has
  const Controls& fixed = w.problem.controls;
  const int swizzle = whole.controls.swizzle;
  const bool serial = fixed.mode != Mode::split_k_parallel;
  Estimate best = cut(w, serial ? Mode::split_k_serial : Mode::split_k_parallel, swizzle);
  if (!fixed.mode) {
    const Estimate parallel = cut(w, Mode::split_k_parallel, swizzle);
    if (better(parallel, best, max_workspace)) best = parallel;
  }
  // K in one piece is a choice too, but where the caller asked for a cut, only if no cut fits the workspace.
  const bool asked = fixed.mode || fixed.split_k_slices;
  const bool whole_is_open = !fixed.split_k_slices && (!asked || best.workspace > max_workspace);
  return whole_is_open && better(whole, best, max_workspace) ? whole : best;
}

}  // namespace quarry
