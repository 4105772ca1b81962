#include "gemm/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "gemm/host.hpp"
#include "gemm/part_account.hpp"
#include "gemm/split_k.hpp"
#include "gemm/time_parts.hpp"

namespace quarry {
namespace {

// The numbers of the model. They were set by hand with the first kernels, so that the first choices were the
// fastest ones of a few problems on an H200. Where they miss, the factors of the calibration were fitted to
// measured times.

/// By how much the math units are slower that have one warp each, which does not hide the latency of its own
/// instructions; and warps of a multiprocessor from which on they have two.
constexpr double one_warp_each = 1.12;
constexpr unsigned two_warps_each = 8;
/// Four math units: fewer warps leave some idle.
constexpr unsigned math_units = 4;
/// What happens at the same time hides each other except for this share: math and shared memory or copies,
/// and these together with waiting for copies.
constexpr double unhidden = 0.2;
constexpr double unhidden_latency = 0.1;
/// The same of device memory beside all that, where all blocks run at one time. From 318 random problems on
/// an H100.
constexpr double unhidden_memory = 0.15;
/// The share of the ends of a block that is left where neighbours hide the rest.
constexpr double unhidden_ends = 0.5;
/// Times that memory is waited for at the ends of a block.
constexpr double waits_of_ends = 2;
/// Seconds until the blocks of a further round have started. From the choices for 1,139 problems on an H200:
/// many small blocks were predicted up to twice as fast as they are.
constexpr double round_started = 0.3e-6;
/// How much of GemmProfile::epilogue_tile a tile takes more where its epilogue reads or writes other matrices
/// of its size, element by element. From the same choices: with a residual beside short K, tiles were
/// predicted up to 2.8 times as fast as they are.
constexpr double matrices_beside = 3;
/// Cycles for each sum of a thread, to read it where the slice before left it and to add: threads wait for a
/// few at a time. From times of split_k_serial with 2 to 8 slices on an H100.
constexpr double sum_handed_on = 120;
constexpr SplitKLimits split_k_limits = {.least_k_tiles_per_slice = 4, .least_seconds = 6e-6};
/// Beyond that, adding up costs more than it brings.
constexpr int most_automatic_slices = 64;

int resident_blocks(const GemmTraits& kernel, int registers, const DeviceModel& device) {
  const int by_registers = device.registers_per_multiprocessor / (kernel.threads * registers);
  const int by_memory = device.shared_memory_per_multiprocessor /
                        std::max(kernel.shared_memory + device.reserved_shared_memory, 1);
  const int by_threads = device.threads_per_multiprocessor / kernel.threads;
  return std::max(1, std::min({by_registers, by_memory, by_threads, device.blocks_per_multiprocessor}));
}

/// Seconds of a K tile of one block, while `running` stand side by side and nothing waits for memory.
double busy_seconds(const GemmProfile& kernel, int running) {
  const unsigned warps = static_cast<unsigned>(running * kernel.traits.threads) / 32;
  const double idle = warps >= two_warps_each ? 1.0
                      : warps >= math_units   ? one_warp_each
                                              : one_warp_each * math_units / warps;
  const double math = kernel.math * idle;
  return std::max(math, kernel.memory) + unhidden * std::min(math, kernel.memory);
}

/// Seconds from one K tile to the next: what the units are busy, or until copies have arrived. They hide each
/// other, but not quite.
double step_seconds(const GemmProfile& kernel, double busy) {
  return std::max(busy, kernel.latency) + unhidden_latency * std::min(busy, kernel.latency);
}

/// A kernel at work on a problem: what does not depend on the slices of K.
struct Work {
  const GemmProfile& kernel;
  const GemmProblem& problem;
  const GemmTraffic& traffic;
  int tiles_n;
  /// Blocks of one slice.
  int blocks;
  int k_tiles;
  /// Seconds to write the output tile of a block, and to read C.
  double epilogue;
  /// Seconds that device memory needs for the operands, each moved once.
  double memory;
};

[[gnu::always_inline]] inline Work work(const GemmProfile& kernel, const GemmProblem& problem,
                                        const GemmTraffic& traffic) {
  const int tiles_n = tiles_along(problem.n, kernel.traits.tile.n);
  return {.kernel = kernel,
          .problem = problem,
          .traffic = traffic,
          .tiles_n = tiles_n,
          .blocks = tiles_along(problem.m, kernel.traits.tile.m) * tiles_n * problem.batch,
          .k_tiles = tiles_along(problem.k, kernel.traits.tile.k),
          .epilogue = (traffic.has_matrices ? 1 + matrices_beside : 1) * kernel.epilogue_tile +
                      kernel.epilogue_byte * traffic.element,
          .memory = traffic.all * kernel.memory_byte};
}

/// Notes what so many blocks of a multiprocessor need, `rounds` of them after the one before.
void note_blocks(const Work& w, double blocks, double rounds, double k_tiles, Account& account) {
  account[TimePart::math] = blocks * k_tiles * w.kernel.math;
  account[TimePart::copies] = blocks * k_tiles * w.kernel.memory;
  account[TimePart::latency] = rounds * k_tiles * w.kernel.latency;
}

/// Seconds of the multiprocessors together with device memory, which works while they do.
/// @param rounds of blocks that follow one another
inline double beside_memory(const Work& w, double seconds, int rounds) {
  const double share = unhidden_memory / std::max(rounds, 1);
  return std::max(seconds, w.memory) + share * std::min(seconds, w.memory);
}

/// Seconds of the kernel itself, for so many blocks in all of so many K tiles each.
/// @param account null, or where the parts are noted
inline double kernel_seconds(const Work& w, int blocks, int k_tiles, Account* account = nullptr) {
  const GemmProfile& kernel = w.kernel;
  const int on_one = few_tiles_along(blocks, kernel.multiprocessors);
  const double busy = busy_seconds(kernel, std::min(on_one, kernel.resident));
  int rounds = 1;
  double steps = 0;
  if (0 < on_one && on_one <= kernel.resident) {  // the same as below, in fewer steps
    steps = step_seconds(kernel, on_one * busy);
  } else {
    rounds = on_one / kernel.resident;
    const int rest = on_one - rounds * kernel.resident;
    steps = rounds * step_seconds(kernel, kernel.resident * busy);
    if (rest > 0) {
      ++rounds;
      steps += step_seconds(kernel, rest * busy);
    }
  }
  const double ends = rounds * kernel.ends * (on_one > 1 ? unhidden_ends : 1.0);
  const double seconds = k_tiles * steps + ends + on_one * w.epilogue + (rounds - 1) * round_started;
  if (account != nullptr) {
    note_blocks(w, on_one, rounds, k_tiles, *account);
    (*account)[TimePart::ends] = ends + (rounds - 1) * round_started;
    (*account)[TimePart::epilogue] = on_one * w.epilogue;
    account->waves = static_cast<double>(blocks) / kernel.resident_on_device;
  }
  return kernel.launch + beside_memory(w, seconds, rounds) * kernel.slowdown;
}

/// kernel_seconds where the reduction computes the expression. Apart, as few problems have one.
[[gnu::noinline]] double plain_seconds(const Work& w, int blocks, int k_tiles, Account* account) {
  Work plain = w;
  plain.epilogue = w.kernel.epilogue_tile + w.kernel.epilogue_byte * bytes_of(w.problem.types.out);
  plain.memory -= w.traffic.expression * w.kernel.memory_byte;
  return kernel_seconds(plain, blocks, k_tiles, account);
}

/// kernel_seconds with K in so many slices.
inline double cut_seconds(const Work& w, Mode mode, int slices, int k_tiles, Account* account = nullptr) {
  if (leaves_expression(mode, w.problem)) return plain_seconds(w, w.blocks * slices, k_tiles, account);
  return kernel_seconds(w, w.blocks * slices, k_tiles, account);
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

/// Counters are cleared first. The slices of a tile end at the same time and add one after another.
SplitKWay serial_way(const Work& w) {
  return {.mode = Mode::split_k_serial,
          .most_slices = most_automatic_slices,
          .once = w.kernel.clearing,
          .slice = w.kernel.turn,
          .balance = w.kernel.serial_balance};
}

/// As many slices as fill the last blocks of all multiprocessors: those with one block more than others take
/// that much longer.
int whole_rounds(const Work& w, int slices, int most) {
  const auto all = static_cast<unsigned>(w.kernel.multiprocessors);
  const auto tiles = static_cast<unsigned>(w.blocks);
  const unsigned blocks = tiles * static_cast<unsigned>(slices);
  if (blocks <= all) return slices;
  const unsigned more = blocks + all / 2;
  const unsigned rounds = more < 2 * all ? 1 : more / all;
  const auto whole = static_cast<int>(divided(rounds * all, tiles));
  return std::max(2, std::min(whole, most));
}

/// What SplitKChoice asks.
struct CutModel {
  const Work& w;

  int slices(const SplitKWork& work, const SplitKWay& way) const {
    return whole_rounds(w, balanced_slices(work, way), most_filled_slices(work, way));
  }
  double seconds(const SplitKWay& way, int slices, int k_tiles) const {
    return cut_seconds(w, way.mode, slices, k_tiles);
  }
  std::size_t workspace(Mode mode, int slices) const {
    return split_k_bytes(w.kernel.traits, w.problem, w.traffic, mode, slices, w.blocks);
  }
};

SplitKWork split_k_work(const Work& w, std::size_t max_workspace) {
  return {.fixed = w.problem.controls,
          .max_workspace = max_workspace,
          .limits = split_k_limits,
          .k_tiles = w.k_tiles,
          .tiles = w.blocks,
          .cluster = 1,
          .at_once = w.kernel.resident_on_device,
          .alone_root = w.kernel.alone_root,
          .k_root = k_root_of(w.traffic, w.kernel)};
}

/// Chooses where K may be cut; `best` is K in one piece at first. The mode that exchanges a slice's sums
/// faster comes first.
void choose_cut(const Work& w, std::size_t max_workspace, Estimate& best) {
  const SplitKWork cut = split_k_work(w, max_workspace);
  const std::optional<Mode>& fixed = w.problem.controls.mode;
  // Reductions compute each element by itself, and do not read all sums.
  const bool only_serial = w.traffic.is_wide || !w.kernel.traits.cuts_in_parallel;
  const bool serial_first = only_serial || (fixed ? *fixed == Mode::split_k_serial
                                                  : w.kernel.turn <= parallel_slice(w.kernel, w.traffic));
  const CutModel model = {w};
  SplitKChoice<CutModel> choice = {model, cut, best};
  const auto way = [&w](bool serial) {
    return serial ? serial_way(w) : parallel_way(w.kernel, w.traffic, w.kernel.most_slices);
  };
  const std::size_t workspace = choice.consider(way(serial_first));
  if (!fixed && !only_serial && workspace > max_workspace) (void)choice.consider(way(!serial_first));
}

/// Seconds of blocks that share all tiles: each does what the longest does, and the blocks of a
/// multiprocessor do it side by side. Each piece of a tile fills a pipeline and is written; where tiles are
/// cut, their sums pass through L2 from block to block.
double stream_seconds(const Work& w, const StreamShares& shares, int multiprocessors, Account* account) {
  const GemmProfile& kernel = w.kernel;
  const int on_one = tiles_along(static_cast<int>(shares.blocks), multiprocessors);
  const int running = std::min(on_one, kernel.resident);
  const int rounds = tiles_along(on_one, kernel.resident);
  const int whole = tiles_along(static_cast<int>(shares.whole), static_cast<int>(shares.blocks));
  const double cut = static_cast<double>(shares.share + (shares.longer > 0));  // K tiles of the range
  const double pieces = whole + (cut > 0 ? std::ceil(cut / w.k_tiles) + 1 : 0);
  const double k_tiles = static_cast<double>(whole) * w.k_tiles + cut;
  const double step = step_seconds(kernel, running * busy_seconds(kernel, running));
  const double ends = pieces * kernel.ends * (running > 1 ? unhidden_ends : 1.0);
  const double seconds = rounds * (k_tiles * step + ends + running * pieces * w.epilogue);
  const double turns = cut > 0 ? running * std::ceil(w.k_tiles / cut) * kernel.turn : 0;
  const double clearing = cut > 0 ? kernel.clearing : 0;
  if (account != nullptr) {
    note_blocks(w, rounds * running, rounds, k_tiles, *account);
    (*account)[TimePart::ends] = rounds * ends;
    (*account)[TimePart::epilogue] = rounds * running * pieces * w.epilogue;
    (*account)[TimePart::exchange] = turns * kernel.slowdown + clearing;
    account->waves = static_cast<double>(shares.blocks) / kernel.resident_on_device;
  }
  return kernel.launch + beside_memory(w, seconds + turns, rounds) * kernel.slowdown + clearing;
}

/// A kernel of Schedule::stream_k in one mode.
Estimate stream_evaluate(const Work& w, const ChosenControls& controls, Account* account = nullptr) {
  Estimate result = {controls, w.kernel.launch, 0};
  if (is_empty(w.problem)) return result;
  const GemmTraits& traits = w.kernel.traits;
  const StreamShares shares = gemm_shares(traits, w.problem, controls);
  result.seconds = stream_seconds(w, shares, controls.multiprocessors, account);
  result.workspace = gemm_workspace(traits, w.problem, controls).bytes;
  return result;
}

/// stream_k, but where the caller wants tiles whole, or there is no workspace to cut them.
[[gnu::noinline]] Estimate stream_estimate(const Work& w, int swizzle, std::size_t max_workspace) {
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
  const double partial_bytes = bytes_of(partial_type(traits.accumulator));
  const MemoryRates& memory = device.rates.memory;
  const LaunchCosts& launch = device.rates.launch;
  const TimeFactors& factors = cost.factors;
  const double l2_byte = memory.thread_copies.clocks_per_byte;
  const int resident = resident_blocks(traits, cost.registers, device);
  const double turn = device.rates.exchange.turn + 2 * tile_elements * partial_bytes * l2_byte +
                      sum_handed_on * tile_elements / traits.threads;
  GemmProfile profile = {
      .traits = traits,
      .resident = resident,
      .resident_on_device = resident * device.multiprocessors,
      .math = factors.math * cost.math * cycle,
      .memory = factors.copies * std::max(cost.shared, cost.copy) * cycle,
      .latency = factors.latency * cost.latency * cycle,
      .launch = factors.launch * launch.first,
      .alone_root = 0,
      .ends = factors.ends * waits_of_ends * memory.thread_copies.latency * cycle,
      .epilogue_byte = factors.epilogue * tile_elements * l2_byte * cycle,
      .epilogue_tile = factors.epilogue * tile_elements * 4 * (1 / memory.shared_bytes_per_clock) * cycle,
      .turn = factors.exchange * turn * cycle,
      .clearing = factors.exchange * launch.next,
      .reduction = factors.reduction * launch.next,
      .slowdown = std::max(1.0, static_cast<double>(cost.registers) / device.registers_per_thread),
      .memory_byte = factors.memory / device.memory_bandwidth,
      .partial_byte = factors.reduction * 2 / memory.partial_sums_speedup / device.memory_bandwidth,
      .rates = &device.rates,
      .multiprocessors = device.multiprocessors,
      .most_slices = most_automatic_slices,
  };
  profile.alone_root = std::sqrt(step_seconds(profile, busy_seconds(profile, 1)));
  set_balances(profile);
  return profile;
}

namespace {

/// As gemm_estimate.
Estimate estimate_by(const GemmTraffic& traffic, const GemmProfile& kernel, const GemmProblem& problem,
                     std::size_t max_workspace) {
  const Work w = work(kernel, problem, traffic);
  const Controls& fixed = problem.controls;
  const int swizzle = fixed.swizzle ? *fixed.swizzle : balanced_swizzle(w);
  if (kernel.traits.schedule == Schedule::stream_k) return stream_estimate(w, swizzle, max_workspace);
  Estimate result = {{fixed.mode.value_or(Mode::gemm), 1, swizzle, raster_of(problem)},
                     kernel_seconds(w, w.blocks, w.k_tiles),
                     0};
  if (may_cut(split_k_work(w, max_workspace), result.seconds)) choose_cut(w, max_workspace, result);
  return result;
}

/// The same of a problem that nobody weighed; apart, as it needs room that a query does not.
[[gnu::noinline]] Estimate estimate_unweighed(const GemmProfile& kernel, const GemmProblem& problem,
                                              std::size_t max_workspace) {
  return estimate_by(traffic_of(problem), kernel, problem, max_workspace);
}

}  // namespace

// Calls take a third of a query's time: so all is inlined but stream_k.
[[gnu::flatten]] Estimate gemm_estimate(const GemmProfile& kernel, const GemmProblem& problem,
                                        std::size_t max_workspace) {
  if (problem.traffic) return estimate_by(*problem.traffic, kernel, problem, max_workspace);
  return estimate_unweighed(kernel, problem, max_workspace);
}

namespace {

/// gemm_account of a problem whose blocks an int counts.
Account counted_account(const GemmProfile& kernel, const GemmProblem& problem, std::size_t max_workspace) {
  const GemmTraffic traffic = traffic_of(problem);
  const Work w = work(kernel, problem, traffic);
  const Estimate estimate = gemm_estimate(kernel, problem, max_workspace);
  const ChosenControls& controls = estimate.controls;
  Account account = begin_account(problem, w.memory, w.memory / kernel.memory_byte);
  account.seconds = estimate.seconds;
  account[TimePart::launch] = kernel.launch;
  if (kernel.traits.schedule == Schedule::stream_k) {
    (void)stream_evaluate(w, controls, &account);
  } else {
    const int slices = controls.split_k_slices;
    const int k_tiles = tiles_along(w.k_tiles, slices);
    account[TimePart::exchange] =
        estimate.seconds - cut_seconds(w, simplified(controls).mode, slices, k_tiles, &account);
  }
  scale_parts(account, kernel.slowdown);
  return account;
}

}  // namespace

Account gemm_account(const GemmProfile& kernel, const GemmProblem& problem, std::size_t max_workspace) {
  return account_of_parts(kernel.traits, problem, [&](const GemmProblem& part) {
    return counted_account(kernel, part, max_workspace);
  });
}

}  // namespace quarry
