/// Predicting the time of a GEMM kernel, and choosing the controls that a caller left open. Host only.
///
/// The model counts cycles of one multiprocessor. Blocks come in rounds of as many as fit at once. Of a K
/// tile, the math units, shared memory and the way from L2 each take their share of cycles; the longest
/// decides, and none is shorter than the time that a stage's copies are under way. To that come the filling
/// of the pipeline and the epilogue for each round, a floor for device memory, the launch, and for split-K
/// modes the exchange of partial sums.
///
/// A query predicts every kernel of a key, so what it does for each stands here, for the families to inline.
#pragma once

#include <algorithm>
#include <cstddef>

#include "common/gemm_host.hpp"

namespace quarry {

/// What a K tile of one block costs, in cycles of a multiprocessor that it has to itself.
struct BlockCost {
  /// Math units at their full rate.
  double math;
  /// Shared memory: reads of fragments and writes of copies.
  double shared;
  /// Copies: bytes from L2, or their instructions where they are narrow.
  double copy;
  /// Least cycles from one K tile to the next, however few blocks there are.
  double latency;
  /// Registers that a thread is likely to need.
  int registers;
};

/// Cycles of a multiprocessor for a byte from L2 while all of them ask.
inline constexpr double cycles_per_l2_byte = 1.0 / 40;
/// Cycles for a byte of shared memory.
inline constexpr double cycles_per_shared_byte = 1.0 / 128;
/// Cycles from asking device memory until the answer.
inline constexpr double memory_latency = 700;
/// Seconds from the launch of an empty kernel to its end.
inline constexpr double launch_seconds = 2.5e-6;
/// Below that, no cut of K pays for its reduction.
inline constexpr double least_seconds_to_cut = 6e-6;
/// Fewer K tiles a slice do not fill a pipeline.
inline constexpr int least_k_tiles_per_slice = 4;
/// The most registers that a thread can have.
inline constexpr int registers_limit = 255;

/// A kernel at work on a problem: what does not depend on the slices of K.
struct GemmWork {
  const GemmTraits& kernel;
  const GemmProblem& problem;
  const DeviceModel& device;
  BlockCost cost;
  /// Blocks that a multiprocessor holds at once.
  int resident;
  int tiles_n;
  /// Blocks of one slice.
  int blocks;
  int k_tiles;
  /// Cycles to write the output tile of a block, and to read C.
  double epilogue;
  /// Seconds that device memory needs for the operands, each moved once.
  double memory_seconds;
};

inline int resident_blocks(const GemmTraits& kernel, const BlockCost& cost, const DeviceModel& device) {
  constexpr int reserved_shared_memory = 1024;  // the driver's, for each block
  constexpr int most = 32;
  const int by_registers = device.registers_per_multiprocessor / (kernel.threads * cost.registers);
  const int by_memory =
      device.shared_memory_per_multiprocessor / (kernel.shared_memory + reserved_shared_memory);
  const int by_threads = device.threads_per_multiprocessor / kernel.threads;
  return std::max(1, std::min({by_registers, by_memory, by_threads, most}));
}

inline GemmWork gemm_work(const GemmTraits& kernel, const BlockCost& cost, const GemmProblem& problem,
                          const DeviceModel& device) {
  const double m = problem.m;
  const double n = problem.n;
  const int tiles_n = tiles_along(problem.n, kernel.tile.n);
  const int out_bytes = bytes_of(kernel.out) << static_cast<int>(problem.has_c);
  const double input_bytes = (m * bytes_of(problem.types.a) + n * bytes_of(problem.types.b)) * problem.k;
  return {.kernel = kernel,
          .problem = problem,
          .device = device,
          .cost = cost,
          .resident = resident_blocks(kernel, cost, device),
          .tiles_n = tiles_n,
          .blocks = tiles_along(problem.m, kernel.tile.m) * tiles_n * problem.batch,
          .k_tiles = tiles_along(problem.k, kernel.tile.k),
          .epilogue =
              kernel.tile.m * kernel.tile.n * (out_bytes * cycles_per_l2_byte + 4 * cycles_per_shared_byte),
          .memory_seconds = (input_bytes + m * n * out_bytes) * problem.batch / device.memory_bandwidth};
}

/// Cycles of a K tile of each of some resident blocks, by the block, while nothing waits for memory.
inline double busy_cycles(const GemmWork& w, int blocks) {
  const int warps = blocks * w.kernel.threads / 32;
  // Four math units: fewer warps leave some idle, and one warp each does not hide the latency of its own
  // instructions.
  const double idle = warps >= 8 ? 1.0 : warps >= 4 ? 1.12 : 1.12 * 4 / warps;
  const double math = w.cost.math * idle;
  const double memory = std::max(w.cost.shared, w.cost.copy);
  return std::max(math, memory) + 0.2 * std::min(math, memory);
}

/// Seconds of the kernel itself, for so many blocks in all of so many K tiles each.
inline double kernel_seconds(const GemmWork& w, int blocks, int k_tiles) {
  const int on_one = tiles_along(blocks, w.device.multiprocessors);
  const int rounds = on_one / w.resident;
  const int rest = on_one - rounds * w.resident;
  const double busy = busy_cycles(w, std::min(on_one, w.resident));
  const double full_step = rounds * std::max(w.resident * busy, w.cost.latency);
  const double rest_step = rest > 0 ? std::max(rest * busy, w.cost.latency) : 0;
  // Filling the pipeline and the way of the results; where blocks stand side by side, half of it is hidden.
  const double ends = on_one > 1 ? memory_latency : 2 * memory_latency;
  const double cycles =
      k_tiles * (full_step + rest_step) + (rounds + (rest > 0)) * ends + on_one * w.epilogue;
  return launch_seconds + std::max(cycles / w.device.clock, w.memory_seconds);
}

/// As many columns of tiles as make the part of the output that runs at one time about square, to share
/// operands in L2.
inline int balanced_swizzle(const GemmWork& w) {
  const int running = std::min(w.blocks, w.device.multiprocessors * w.resident);
  const int rows = running * w.kernel.tile.m / w.kernel.tile.n;  // of a square's columns, squared
  int swizzle = 1;
  while (swizzle < 8 && 2 * swizzle <= w.tiles_n && 4 * swizzle * swizzle <= rows) swizzle *= 2;
  return swizzle;
}

/// Chooses mode and slices where K may be cut. @param whole what it takes in one piece
Estimate best_cut(const GemmWork& w, const Estimate& whole, std::size_t max_workspace);

/// Whether K may be cut, and either the caller wants it or it may pay.
inline bool may_cut(const GemmWork& w, double whole_seconds) {
  const Controls& fixed = w.problem.controls;
  if (w.k_tiles < 2 || fixed.mode == Mode::gemm || fixed.split_k_slices == 1) return false;
  if (fixed.mode || fixed.split_k_slices) return true;
  return whole_seconds >= least_seconds_to_cut && w.k_tiles >= 2 * least_k_tiles_per_slice &&
         2 * w.blocks <= w.device.multiprocessors * w.resident;
}

/// Family::estimate for a GEMM kernel.
inline Estimate gemm_estimate(const GemmTraits& kernel, const BlockCost& cost, const GemmProblem& problem,
                              const DeviceModel& device, std::size_t max_workspace) {
  const GemmWork w = gemm_work(kernel, cost, problem, device);
  double seconds = kernel_seconds(w, w.blocks, w.k_tiles);
  // Code that does not fit into registers is kept for when there is no other.
  if (cost.registers > registers_limit) seconds *= cost.registers / static_cast<double>(registers_limit);
  const Controls& fixed = problem.controls;
  const int swizzle = fixed.swizzle ? *fixed.swizzle : balanced_swizzle(w);
  const Estimate whole = {{fixed.mode.value_or(Mode::gemm), 1, swizzle}, seconds, 0};
  return may_cut(w, seconds) ? best_cut(w, whole, max_workspace) : whole;
}

}  // namespace quarry
