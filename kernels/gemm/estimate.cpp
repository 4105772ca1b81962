#include "gemm/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "gemm/host.hpp"

namespace quarry {
namespace {

/// Seconds from the launch of an empty kernel to its end, and for each further operation on the stream.
constexpr double launch_seconds = 2.5e-6;
constexpr double next_operation_seconds = 1.8e-6;
/// Bytes of shared memory that the driver takes from each block.
constexpr int reserved_shared_memory = 1024;
constexpr int most_registers = 255;
constexpr int most_resident_blocks = 32;
/// Cycles to hand the turn of a split_k_serial tile on, beside the traffic.
constexpr double turn_cycles = 1500;
/// Below that, no cut of K pays for its reduction.
constexpr double least_seconds_to_cut = 6e-6;
/// Fewer K tiles a slice do not fill a pipeline.
constexpr int least_k_tiles_per_slice = 4;
/// Beyond that, adding up costs more than it brings.
constexpr int most_automatic_slices = 64;

int resident_blocks(const GemmTraits& kernel, int registers, const DeviceModel& device) {
  const int by_registers = device.registers_per_multiprocessor / (kernel.threads * registers);
  const int by_memory =
      device.shared_memory_per_multiprocessor / (kernel.shared_memory + reserved_shared_memory);
  const int by_threads = device.threads_per_multiprocessor / kernel.threads;
  return std::max(1, std::min({by_registers, by_memory, by_threads, most_resident_blocks}));
}

/// Seconds of a K tile of one block, while `running` stand side by side and nothing waits for memory.
double busy_seconds(const GemmProfile& kernel, int running) {
  const int warps = running * kernel.traits.threads / 32;
  // Four math units: fewer warps leave some idle, and one warp each does not hide the latency of its own
  // instructions.
  const double idle = warps >= 8 ? 1.0 : warps >= 4 ? 1.12 : 1.12 * 4 / warps;
  const double math = kernel.math * idle;
  return std::max(math, kernel.memory) + 0.2 * std::min(math, kernel.memory);
}

/// Seconds from one K tile to the next: what the units are busy, or until copies have arrived. They hide each
/// other, but not quite.
double step_seconds(const GemmProfile& kernel, double busy) {
  return std::max(busy, kernel.latency) + 0.1 * std::min(busy, kernel.latency);
}

/// A kernel at work on a problem: what does not depend on the slices of K.
struct Work {
  const GemmProfile& kernel;
  const GemmProblem& problem;
  int tiles_n;
  /// Blocks of one slice.
  int blocks;
  int k_tiles;
  /// Seconds to write the output tile of a block, and to read C.
  double epilogue;
  /// Seconds that device memory needs for the operands, each moved once.
  double memory;
};

Work work(const GemmProfile& kernel, const GemmProblem& problem) {
  const double m = problem.m;
  const double n = problem.n;
  const int tiles_n = tiles_along(problem.n, kernel.traits.tile.n);
  const int out_bytes = bytes_of(problem.types.out) * epilogue_matrices(problem);
  const double input_bytes = (m * bytes_of(problem.types.a) + n * bytes_of(problem.types.b)) * problem.k;
  return {.kernel = kernel,
          .problem = problem,
          .tiles_n = tiles_n,
          .blocks = tiles_along(problem.m, kernel.traits.tile.m) * tiles_n * problem.batch,
          .k_tiles = tiles_along(problem.k, kernel.traits.tile.k),
          .epilogue = kernel.epilogue_tile + kernel.epilogue_byte * out_bytes,
          .memory = (input_bytes + m * n * out_bytes) * problem.batch * kernel.memory_byte};
}

/// Seconds of the kernel itself, for so many blocks in all of so many K tiles each.
inline double kernel_seconds(const Work& w, int blocks, int k_tiles) {
  const GemmProfile& kernel = w.kernel;
  const int on_one = tiles_along(blocks, kernel.multiprocessors);
  const int rounds = on_one / kernel.resident;
  const int rest = on_one - rounds * kernel.resident;
  const double busy = busy_seconds(kernel, std::min(on_one, kernel.resident));
  const double full_step = rounds * step_seconds(kernel, kernel.resident * busy);
  const double rest_step = rest > 0 ? step_seconds(kernel, rest * busy) : 0;
  const double ends =
      (rounds + (rest > 0)) * kernel.ends * (on_one > 1 ? 0.5 : 1.0);  // neighbours hide half of it
  const double seconds = k_tiles * (full_step + rest_step) + ends + on_one * w.epilogue;
  return launch_seconds + std::max(seconds, w.memory) * kernel.slowdown;
}

/// As many columns of tiles as make the part of the output that runs at one time about square, to share
/// operands in L2.
int balanced_swizzle(const Work& w) {
  const Tile& tile = w.kernel.traits.tile;
  const int running = std::min(w.blocks, w.kernel.resident_on_device);
  const int columns = std::min(w.tiles_n, 8);
  int swizzle = 1;
  while (2 * swizzle <= columns && 4 * swizzle * swizzle * tile.n <= running * tile.m) swizzle *= 2;
  return swizzle;
}

Raster raster_of(const GemmProblem& problem) { return problem.controls.raster.value_or(Raster::along_n); }

/// A split-K mode, and what exchanging partial sums costs in it, in seconds: for its own sake, and for each
/// slice beyond the first.
struct Cut {
  Mode mode;
  double once;
  double slice;
};

/// Counters are cleared first. The slices of a tile end at the same time and add one after another.
Cut serial_cut(const Work& w) { return {Mode::split_k_serial, next_operation_seconds, w.kernel.turn}; }

/// Partial outputs are written, and read again by the reduction. They are in L2, mostly.
Cut parallel_cut(const Work& w) {
  const int partial_bytes = w.kernel.traits.accumulator == DType::f64 ? 8 : 4;
  const double outputs = static_cast<double>(w.problem.m) * w.problem.n * w.problem.batch;
  const double slice = 2 / 1.5 * outputs * partial_bytes * w.kernel.memory_byte;
  return {Mode::split_k_parallel, next_operation_seconds + slice, slice};
}

/// The number of slices at which one more costs in exchange what it saves of the main loop; no more than run
/// at once, and than have work enough for a pipeline.
int balanced_slices(const Work& w, const Cut& cut) {
  const int by_blocks = w.kernel.resident_on_device / std::max(w.blocks, 1);
  const int most = std::min({by_blocks, w.k_tiles / least_k_tiles_per_slice, most_automatic_slices});
  // The root of k_tiles * alone / slice; what depends on the problem alone is a factor of its own, to be
  // ready early.
  const double balance = w.kernel.alone_root * std::sqrt(w.k_tiles / cut.slice);
  return std::max(2, balance < most ? static_cast<int>(balance) : most);
}

/// A mode with its best number of slices.
Estimate evaluate(const Work& w, const Cut& cut, int swizzle) {
  const std::optional<int>& fixed = w.problem.controls.split_k_slices;
  int slices = fixed ? *fixed : balanced_slices(w, cut);
  const int k_tiles = tiles_along(w.k_tiles, slices);
  if (!fixed) slices = tiles_along(w.k_tiles, k_tiles);  // none is left without work
  const double main = kernel_seconds(w, w.blocks * slices, k_tiles);
  const ChosenControls controls = {cut.mode, slices, swizzle, raster_of(w.problem)};
  const std::size_t bytes = gemm_workspace(w.kernel.traits, w.problem, controls).bytes;
  return {controls, main + cut.once + (slices - 1) * cut.slice, bytes};
}

/// Whether one choice is to be preferred: the faster one where the workspace allows both, else the one that
/// needs less.
bool is_better(const Estimate& one, const Estimate& other, std::size_t max_workspace) {
  const bool both_fit = one.workspace <= max_workspace && other.workspace <= max_workspace;
  return both_fit ? one.seconds < other.seconds : one.workspace < other.workspace;
}

/// Whether K may be cut, and either the caller wants it or it may pay.
bool may_cut(const Work& w, double whole_seconds) {
  const Controls& fixed = w.problem.controls;
  if (w.k_tiles < 2 || w.blocks > grid_limit / 2) return false;
  if (fixed.mode == Mode::gemm || fixed.split_k_slices == 1) return false;
  if (fixed.mode || fixed.split_k_slices) return true;
  return whole_seconds >= least_seconds_to_cut && w.k_tiles >= 2 * least_k_tiles_per_slice &&
         w.blocks <= w.kernel.resident_on_device / 2;
}

/// Chooses mode and slices where K may be cut. @param whole_seconds what it takes in one piece
Estimate best_cut(const Work& w, double whole_seconds, int swizzle, std::size_t max_workspace) {
  const Controls& fixed = w.problem.controls;
  const Cut serial = serial_cut(w);
  const Cut parallel = parallel_cut(w);
  const bool serial_first = fixed.mode ? fixed.mode == Mode::split_k_serial : serial.slice <= parallel.slice;
  Estimate best = evaluate(w, serial_first ? serial : parallel, swizzle);
  if (!fixed.mode && best.workspace > max_workspace) {
    const Estimate other = evaluate(w, serial_first ? parallel : serial, swizzle);
    if (is_better(other, best, max_workspace)) best = other;
  }
  // K in one piece is a choice too; where the caller asked for a mode, only if no cut fits the workspace.
  if (fixed.split_k_slices || (fixed.mode && best.workspace <= max_workspace)) return best;
  const Estimate whole = {
      {fixed.mode.value_or(Mode::gemm), 1, swizzle, raster_of(w.problem)}, whole_seconds, 0};
  if (is_better(whole, best, max_workspace)) best = whole;
  return best;
}

/// Seconds of blocks that share all tiles: each does what the longest does, and those of a multiprocessor do
/// it side by side. Each piece of a tile fills a pipeline and is written; where tiles are cut, their sums
/// pass through L2 from block to block.
double stream_seconds(const Work& w, const StreamShares& shares, int multiprocessors) {
  const GemmProfile& kernel = w.kernel;
  const int on_one = tiles_along(static_cast<int>(shares.blocks), multiprocessors);
  const int running = std::min(on_one, kernel.resident);
  const int rounds = tiles_along(on_one, kernel.resident);
  const int whole = tiles_along(static_cast<int>(shares.whole), static_cast<int>(shares.blocks));
  const double cut = static_cast<double>(shares.share + (shares.longer > 0));  // K tiles of the range
  const double pieces = whole + (cut > 0 ? std::ceil(cut / w.k_tiles) + 1 : 0);
  const double k_tiles = static_cast<double>(whole) * w.k_tiles + cut;
  const double step = step_seconds(kernel, running * busy_seconds(kernel, running));
  const double ends = pieces * kernel.ends * (running > 1 ? 0.5 : 1.0);
  const double seconds = rounds * (k_tiles * step + ends + running * pieces * w.epilogue);
  const double turns = cut > 0 ? running * std::ceil(w.k_tiles / cut) * kernel.turn : 0;
  const double clearing = cut > 0 ? next_operation_seconds : 0;
  return launch_seconds + std::max(seconds + turns, w.memory) * kernel.slowdown + clearing;
}

/// A kernel of Schedule::stream_k in one mode.
Estimate stream_evaluate(const Work& w, const ChosenControls& controls) {
  Estimate result = {controls, launch_seconds, 0};
  if (is_empty(w.problem)) return result;
  const GemmTraits& traits = w.kernel.traits;
  result.seconds = stream_seconds(w, gemm_shares(traits, w.problem, controls), controls.multiprocessors);
  result.workspace = gemm_workspace(traits, w.problem, controls).bytes;
  return result;
}

/// stream_k, but where the caller wants tiles whole, or there is no workspace to cut them.
Estimate stream_estimate(const Work& w, int swizzle, std::size_t max_workspace) {
  const Controls& fixed = w.problem.controls;
  const int all = w.kernel.multiprocessors;
  ChosenControls controls = {.mode = fixed.mode.value_or(Mode::stream_k),
                             .split_k_slices = 1,
                             .swizzle = swizzle,
                             .raster = raster_of(w.problem),
                             .multiprocessors = std::min(fixed.multiprocessors.value_or(all), all),
                             .resident = w.kernel.resident};
  const Estimate estimate = stream_evaluate(w, controls);
  if (fixed.mode || estimate.workspace <= max_workspace) return estimate;
  controls.mode = Mode::gemm;
  return stream_evaluate(w, controls);
}

}  // namespace

GemmProfile gemm_profile(const GemmTraits& traits, const BlockCost& cost, const DeviceModel& device) {
  const double cycle = 1 / device.clock;
  const double tile_elements = traits.tile.m * traits.tile.n;
  const double partial_bytes = traits.accumulator == DType::f64 ? 8 : 4;
  const int resident = resident_blocks(traits, cost.registers, device);
  GemmProfile profile = {
      .traits = traits,
      .resident = resident,
      .resident_on_device = resident * device.multiprocessors,
      .math = cost.math * cycle,
      .memory = std::max(cost.shared, cost.copy) * cycle,
      .latency = cost.latency * cycle,
      .alone = 0,
      .alone_root = 0,
      .ends = 2 * memory_latency * cycle,
      .epilogue_byte = tile_elements * cycles_per_l2_byte * cycle,
      .epilogue_tile = tile_elements * 4 * cycles_per_shared_byte * cycle,
      .turn = (turn_cycles + 2 * tile_elements * partial_bytes * cycles_per_l2_byte) * cycle,
      .slowdown = std::max(1.0, static_cast<double>(cost.registers) / most_registers),
      .memory_byte = 1 / device.memory_bandwidth,
      .multiprocessors = device.multiprocessors,
  };
  profile.alone = step_seconds(profile, busy_seconds(profile, 1));
  profile.alone_root = std::sqrt(profile.alone);
  return profile;
}

Estimate gemm_estimate(const GemmProfile& kernel, const GemmProblem& problem, std::size_t max_workspace) {
  const Work w = work(kernel, problem);
  const Controls& fixed = problem.controls;
  const int swizzle = fixed.swizzle ? *fixed.swizzle : balanced_swizzle(w);
  if (kernel.traits.schedule == Schedule::stream_k) return stream_estimate(w, swizzle, max_workspace);
  const double seconds = kernel_seconds(w, w.blocks, w.k_tiles);
  if (may_cut(w, seconds)) return best_cut(w, seconds, swizzle, max_workspace);
  return {{fixed.mode.value_or(Mode::gemm), 1, swizzle, raster_of(problem)}, seconds, 0};
}

}  // namespace quarry
