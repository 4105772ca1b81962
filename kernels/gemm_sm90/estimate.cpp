#include "gemm_sm90/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "common/long_slices.hpp"
#include "gemm/host.hpp"
#include "gemm/part_account.hpp"
#include "gemm/split_k.hpp"
#include "gemm/time_parts.hpp"
#include "gemm_sm90/clusters.hpp"
#include "gemm_sm90/copy_time.hpp"
#include "gemm_sm90/step_time.hpp"
#include "gemm_sm90/store_time.hpp"

namespace quarry::gemm_sm90 {
namespace {

// The numbers of the model were fitted together with the numbers of profile.cpp, which says how: those that
// no other comment speaks of, from the choices for 401 problems on an H200.

/// The least time of two tiles of ping_pong, in the time that the bytes of one need on their way to device
/// memory.
constexpr double pair_stored = 4.9;
/// start_seconds where the device is full of blocks.
constexpr double blocks_started = 0.17e-6;
/// All of the share that is not hidden from so many waves on: fewer blocks hide more. From problems on both
/// devices (467).
constexpr double unhidden_from = 0.56;
/// The share of the time so reckoned that is promised. The factors of the calibration go with it.
constexpr double promised = 0.83;
/// The share of Work::drain that is left while few blocks write. From 570 random problems on both devices.
constexpr double drained_alone = 0.8;
constexpr SplitKLimits split_k_limits = {.least_k_tiles_per_slice = 3};
/// The most slices that are looked at for two lengths: more of them come out even anyway.
constexpr int most_cuts = 12;

/// A kernel at work on a problem, whatever the slices of K.
struct Work {
  const GemmProfile& kernel;
  const GemmProblem& problem;
  const GemmTraffic& traffic;
  int tiles_m;
  int tiles_n;
  /// Tiles of clusters of one slice.
  int tiles;
  /// Clusters that multiprocessors hold one each of.
  int clusters;
  int k_tiles;
  /// Seconds to take the output tile of a block out of the registers, and to read C. Of these, what it takes
  /// longer as lanes store.
  double store;
  double by_lanes;
  /// Seconds until it is in device memory after that.
  double drain;
  /// Seconds to multiply a K tile of a block.
  double math;
  /// Seconds to bring a K tile of a block while all multiprocessors ask.
  double copy;
  /// Least seconds from one K tile of a block to the next.
  double latency;
  /// Seconds that device memory needs for the operands, each moved once.
  double memory;
};

inline int clusters_of(const GemmProfile& kernel, const GemmProblem& problem) {
  if (!problem.controls.multiprocessors) return kernel.clusters;
  const int allowed = std::min(*problem.controls.multiprocessors, kernel.multiprocessors);
  return static_cast<int>(clusters_at_once(static_cast<unsigned>(kernel.traits.cluster), allowed));
}

/// How much of the copies of K tiles comes from device memory: the rest was brought to L2 for other tiles.
/// @param inputs seconds of device memory for the operands
inline double first_share(const GemmProfile& kernel, double inputs, double tiles) {
  const double copies = tiles * kernel.traits.cluster * kernel.memory;
  const double share = kernel.first_scale * inputs * kernel.multiprocessors;
  return share < copies ? share / copies : 1;
}

[[gnu::always_inline]] inline Work work(const GemmProfile& kernel, const GemmProblem& problem,
                                        const GemmTraffic& traffic) {
  const int tiles_m = tiles_along(problem.m, kernel.traits.tile.m);
  const int tiles_n = tiles_along(problem.n, kernel.traits.tile.n);
  const int k_tiles = tiles_along(problem.k, kernel.traits.tile.k);
  const int tiles = tiles_m * tiles_n * problem.batch;
  const double second = problem.batch * kernel.memory_byte;
  const double inputs = traffic.inputs * second;
  const double first = first_share(kernel, inputs, static_cast<double>(tiles) * k_tiles);
  const double split = traffic.split_out.of(kernel.traits.layouts.out);
  const double drain = kernel.epilogue_byte * traffic.element * (1 + kernel.split_output * split) *
                       stored_share(kernel, problem);
  const double by_lanes = lanes_seconds(kernel, problem);
  return {
      .kernel = kernel,
      .problem = problem,
      .traffic = traffic,
      .tiles_m = tiles_m,
      .tiles_n = tiles_n,
      .tiles = tiles,
      .clusters = clusters_of(kernel, problem),
      .k_tiles = k_tiles,
      .store = store_seconds(kernel, traffic, by_lanes, drain),
      .by_lanes = by_lanes,
      .drain = drain,
      .math = kernel.math + (traffic.has_column_scales ? kernel.column_scales : 0),
      .copy = copy_seconds(kernel, traffic, tiles_m, tiles_n),
      .latency = std::max(kernel.least, kernel.latency * (1 + kernel.rates->memory.device_latency * first)),
      .memory = inputs + traffic.outputs * second * kernel.output_lines};
}

/// Bytes that device memory moves, each once.
inline double bytes_moved(const Work& w) { return w.problem.batch * (w.traffic.inputs + w.traffic.outputs); }

/// How the blocks of a launch are cut and spread.
struct Spread {
  /// Clusters' tiles that follow one another on those that run at once, and K tiles of each.
  int tiles;
  int k_tiles;
  int at_once;
  /// Blocks that share a tile at the same time.
  int slices = 1;
  /// Seconds more to store each tile.
  double partial = 0;
};

/// The share of Work::copy that is left while this share of all clusters is at work.
inline double way_share(const Work& w, double busy) {
  return busy >= 1 ? 1 : std::max(w.kernel.rates->memory.alone_share, busy);
}

/// What a K tile needs while this share of all clusters is at work. @param waves of blocks that are there
inline Step step_while(const Work& w, double busy, double waves) {
  return {.math = w.math,
          .copy = w.copy * way_share(w, busy),
          .latency = w.latency,
          .unhidden = waves < unhidden_from ? unhidden * waves / unhidden_from : unhidden};
}

/// The same in this launch, except for its last tiles.
inline Step step_of(const Work& w, const Spread& spread) {
  const double tiles = spread.tiles;
  return step_while(w, tiles * spread.slices / w.clusters,
                    tiles / (static_cast<double>(spread.at_once) * w.kernel.resident));
}

/// The tiles of one multiprocessor, the busiest one.
struct Queue {
  int tiles;
  int k_tiles;
  /// Seconds of the K tiles of each tile, and what the last tile takes less: where it has the way to L2 and
  /// to device memory for itself, as other multiprocessors have none left.
  double main;
  double less = 0;
  /// Work::drain, on average.
  double drain;
};

inline Queue queue_of(const Work& w, const Spread& spread, const Step& step, int tiles) {
  const double main = spread.k_tiles * step_seconds(step, 1);
  const auto drained = [&](double busy) { return std::max(drained_alone, std::min(busy, 1.0)); };
  if (tiles <= 1) {
    const double busy = static_cast<double>(spread.tiles) * spread.slices / w.clusters;
    return {tiles, spread.k_tiles, main, 0, w.drain * drained(busy)};
  }
  if (w.kernel.resident > 1) return {tiles, spread.k_tiles, main, 0, w.drain};
  const double last = spread.tiles - (tiles - 1.0) * spread.at_once;
  const double busy = last / spread.at_once;
  const double alone = spread.k_tiles * step_seconds(step_while(w, busy, busy), 1);
  return {tiles, spread.k_tiles, main, main - alone, w.drain * (tiles - 1 + drained(busy)) / tiles};
}

/// Seconds of a multiprocessor for tiles, one after another, by one persistent block.
inline double persistent_seconds(const Work& w, const Queue& queue) {
  const GemmProfile& kernel = w.kernel;
  const double around = kernel.ends + (queue.tiles - 1) * kernel.turn + queue.drain;
  if (kernel.traits.schedule == Schedule::ping_pong) {
    if (queue.tiles == 1) return around + queue.main + w.store;
    // Two tiles are under way: one is multiplied while the other one is stored.
    const double stored = std::max(queue.main + w.store + queue.drain, pair_stored * queue.drain);
    const double pair = std::max(2 * queue.main, stored);
    const bool is_odd = queue.tiles % 2 != 0;
    const double last =
        is_odd ? pair + queue.main - queue.less : std::max(2 * queue.main - queue.less, stored);
    return around + (queue.tiles / 2 - 1) * pair + last + w.store;
  }
  return around + queue.tiles * (queue.main + w.store) - queue.less;
}

/// The same where blocks of one tile each come and go.
inline double one_tile_seconds(const Work& w, const Queue& queue, const Step& step) {
  const GemmProfile& kernel = w.kernel;
  const int tiles = queue.tiles;
  const double stored = tiles * (w.store + queue.drain) - queue.less;
  if (0 < tiles && tiles <= kernel.resident)  // the same as below, in fewer steps
    return queue.k_tiles * step_seconds(step, tiles) + kernel.ends + stored;
  const int rounds = tiles / kernel.resident;
  const int rest = tiles - rounds * kernel.resident;
  const double full = queue.k_tiles * step_seconds(step, kernel.resident);
  const double last = rest > 0 ? queue.k_tiles * step_seconds(step, rest) : 0;
  return rounds * full + last + (rounds + (rest > 0)) * kernel.ends + stored;
}

/// The share of device memory's time that is hidden within a tile of so many K tiles: all that a kernel hides
/// where the multiprocessors take twice as long, none where they are done sooner; and none where the output
/// has so few rows or columns that all copies come from device memory (an H200 shows it).
inline double hidden_in_tile(const Work& w, double seconds, int k_tiles) {
  constexpr double few_k_tiles = 11;  // hide nothing
  constexpr int few_rows = 64;
  if (k_tiles <= few_k_tiles || seconds <= w.memory) return 0;
  if (std::min(w.problem.m, w.problem.n) <= few_rows) return 0;
  return w.kernel.hidden_in_tile * (1 - few_k_tiles / k_tiles) * std::min(1.0, 2 * (1 - w.memory / seconds));
}

/// Seconds of the multiprocessors together with device memory, which works while they do, except that the
/// first tiles wait for it, and it for the last ones. @param rounds tiles that follow one another, of so many
/// K tiles each
inline double beside_memory(const Work& w, double seconds, int rounds, int k_tiles) {
  const double longer = std::max(seconds, w.memory);
  const double shorter = std::min(seconds, w.memory);
  if (rounds <= 1) return longer + (1 - hidden_in_tile(w, seconds, k_tiles)) * shorter;
  const double share = w.kernel.unhidden_memory;
  return longer + (share + (1 - share) / rounds) * shorter;
}

/// Seconds until the blocks of one_tile have started: fewer are there sooner.
inline double start_seconds(const Work& w, const Spread& spread) {
  const double blocks = static_cast<double>(spread.tiles) * spread.slices;
  return blocks_started * std::min(1.0, blocks / (static_cast<double>(w.clusters) * w.kernel.resident));
}

/// Notes what the tiles of a multiprocessor need.
void note_tiles(const Work& w, const Spread& spread, int tiles, const Step& step, Account& account) {
  const GemmProfile& kernel = w.kernel;
  const bool comes_and_goes = kernel.traits.schedule == Schedule::one_tile;
  const double rounds = comes_and_goes ? tiles_along(tiles, kernel.resident) : tiles;
  const double k_tiles = static_cast<double>(tiles) * spread.k_tiles;
  account.waves = static_cast<double>(spread.tiles) / spread.at_once / kernel.resident;
  account[TimePart::math] = k_tiles * step.math;
  account[TimePart::copies] = k_tiles * step.copy;
  account[TimePart::latency] = rounds * spread.k_tiles * step.latency;
  account[TimePart::ends] = comes_and_goes ? rounds * kernel.ends : kernel.ends + (tiles - 1) * kernel.turn;
  account[TimePart::epilogue] = tiles * (w.store + w.drain + spread.partial);
}

/// Seconds of the kernel itself. @param account null, or where the parts are noted
[[gnu::always_inline]] inline double kernel_seconds(const Work& w, const Spread& spread,
                                                    Account* account = nullptr) {
  const Step step = step_of(w, spread);
  const int on_one = few_tiles_along(spread.tiles, spread.at_once);
  const bool comes_and_goes = w.kernel.traits.schedule == Schedule::one_tile;
  const Queue queue = queue_of(w, spread, step, on_one);
  const double stored = comes_and_goes ? one_tile_seconds(w, queue, step) : persistent_seconds(w, queue);
  const double seconds = stored + on_one * spread.partial;
  if (account != nullptr) note_tiles(w, spread, on_one, step, *account);
  const int rounds = comes_and_goes ? few_tiles_along(on_one, w.kernel.resident) : on_one;
  const double start = w.kernel.launch + (comes_and_goes ? start_seconds(w, spread) : 0);
  return start + promised * beside_memory(w, seconds, rounds, spread.k_tiles);
}

/// Slices of two lengths. @pre there are two slices at least
SliceCut cut_of(const Work& w, int slices) {
  return cut_in_two_lengths(static_cast<unsigned>(w.tiles), w.k_tiles, static_cast<unsigned>(w.clusters),
                            slices);
}

/// kernel_seconds of slices of two lengths. @pre a persistent schedule
double long_slice_seconds(const Work& w, const SliceCut& cut, Account* account = nullptr) {
  const GemmProfile& kernel = w.kernel;
  const Spread spread = {w.tiles * cut.slices, cut.short_k_tiles, w.clusters, 1, kernel.partial_tile};
  const Step step = step_of(w, spread);
  const BusiestBlock busiest = busiest_block(cut);
  const double around = kernel.ends + (busiest.works - 1) * kernel.turn + w.drain;
  const double main = busiest.k_tiles * step_seconds(step, 1);
  if (account != nullptr) note_tiles(w, spread, busiest.works, step, *account);
  const double seconds = around + main + busiest.works * (w.store + kernel.partial_tile);
  return kernel.launch + promised * beside_memory(w, seconds, busiest.works, cut.short_k_tiles);
}

/// In which order tiles are walked.
struct Order {
  Raster raster;
  int swizzle;
};

/// Where all tiles run at one time, or the smaller operand stays in L2, neighbours go along the longer extent
/// of the output: they share a part of the smaller operand, and read the larger one from many places. (Across
/// it, 128 tiles of 64x64 took 20 % longer on an H100.) Else those that run at one time make up a square,
/// about: groups eight tiles wide, where that leaves no narrow one. @param smaller bytes of the smaller
/// operand
inline Order balanced_order(const Work& w, double smaller) {
  constexpr int widest = 8;
  const bool is_one_wave = w.tiles <= w.clusters * w.kernel.resident;
  if (is_one_wave || smaller <= w.kernel.rates->memory.kept_operand_bytes)
    return {w.problem.m <= w.problem.n ? Raster::along_n : Raster::along_m, 1};
  const bool along_n = w.tiles_m < widest || (w.tiles_m % widest != 0 && w.tiles_n % widest == 0);
  return {along_n ? Raster::along_n : Raster::along_m, widest};
}

/// Each block adds its part of the tile's sums, which lie in the others' shared memory.
SplitKWay cluster_way(const Work& w) {
  return {Mode::split_k_cluster, most_cluster_slices, w.kernel.cluster_turn, w.kernel.cluster_slice,
          w.kernel.cluster_share};
}

/// Whether slices can be the blocks of a cluster, as many as the caller asked for.
bool may_cut_by_cluster(const Work& w) {
  const Controls& fixed = w.problem.controls;
  if (w.traffic.is_wide) return false;  // reductions and gated pairs need all of a tile's sums
  if (fixed.mode) return *fixed.mode == Mode::split_k_cluster;
  return w.kernel.traits.cuts_by_cluster && fixed.split_k_slices.value_or(2) <= most_cluster_slices;
}

/// Clusters of so many slices that run at once, where each block has a multiprocessor to itself.
int clusters_of_slices(const Work& w, int slices) {
  return static_cast<int>(clusters_at_once(static_cast<unsigned>(slices), w.clusters));
}

/// As many as run at once and have work enough for a pipeline; an even number of more than four, as
/// multiprocessors come in pairs.
int cluster_slices(const Work& w, int most) {
  const int rounds = tiles_along(w.tiles, w.kernel.resident);
  while (most > 2 && !run_at_once(rounds, static_cast<unsigned>(most), w.clusters)) --most;
  return most > 4 ? most & ~1 : most;
}

/// How the blocks are spread where K is cut, or not (1 slice).
Spread spread(const Work& w, Mode mode, int slices, int k_tiles) {
  if (mode != Mode::split_k_cluster) {
    const double partial = mode == Mode::split_k_parallel ? w.kernel.partial_tile : 0;
    return {w.tiles * slices, k_tiles, w.clusters, 1, partial};
  }
  return {w.tiles, k_tiles, clusters_of_slices(w, slices), slices};
}

/// Seconds of the kernel where K is cut, or not (1 slice), beside the exchange of sums.
double cut_seconds(const Work& w, Mode mode, int slices, int k_tiles, Account* account = nullptr) {
  if (w.by_lanes > 0 && mode == Mode::split_k_parallel) {  // sums leave in another way
    Work sums = w;
    sums.store -= sums.by_lanes;
    sums.by_lanes = 0;
    return cut_seconds(sums, mode, slices, k_tiles, account);
  }
  if (w.kernel.lengthens_slices && mode == Mode::split_k_parallel) {
    const SliceCut cut = cut_of(w, slices);
    if (long_slices_pay(cut)) return long_slice_seconds(w, cut, account);
  }
  return kernel_seconds(w, spread(w, mode, slices, k_tiles), account);
}

/// The same where the reduction computes the expression. Apart, as few problems have one.
[[gnu::noinline]] double plain_cut_seconds(const Work& w, int slices, int k_tiles,
                                           Account* account = nullptr) {
  Work plain = w;
  plain.store = w.kernel.epilogue_tile;
  plain.by_lanes = 0;
  plain.drain = w.kernel.epilogue_byte * bytes_of(w.problem.types.out);
  plain.memory -= w.traffic.expression * w.kernel.memory_byte * w.kernel.output_lines;
  return cut_seconds(plain, Mode::split_k_parallel, slices, k_tiles, account);
}

/// What SplitKChoice asks.
struct CutModel {
  const Work& w;

  int slices(const SplitKWork& work, const SplitKWay& way) const {
    if (way.mode == Mode::split_k_cluster)
      return std::max(2, cluster_slices(w, most_filled_slices(work, way)));
    const int rounds = slices_of_rounds(*this, work, way);
    return w.kernel.lengthens_slices ? cheapest_or(rounds, way) : rounds;
  }
  double seconds(const SplitKWay& way, int slices, int k_tiles) const {
    if (leaves_expression(way.mode, w.problem)) return plain_cut_seconds(w, slices, k_tiles);
    return cut_seconds(w, way.mode, slices, k_tiles);
  }
  std::size_t workspace(Mode mode, int slices) const {
    if (mode == Mode::split_k_cluster) return 0;
    return split_k_bytes(w.kernel.traits, w.problem, w.traffic, mode, slices, w.tiles);
  }

 private:
  /// So many slices, or fewer that take less time.
  int cheapest_or(int slices, const SplitKWay& way) const {
    const auto needed = [&](int each) {
      return seconds(way, each, tiles_along(w.k_tiles, each)) + (each - 1) * (way.slice + way.overhead);
    };
    int best = slices;
    for (int fewer = 2; fewer < slices && fewer <= most_cuts; ++fewer) {
      if (long_slices_pay(cut_of(w, fewer)) && needed(fewer) < needed(best)) best = fewer;
    }
    return best;
  }
};

SplitKWork split_k_work(const Work& w, std::size_t max_workspace) {
  return {.fixed = w.problem.controls,
          .max_workspace = max_workspace,
          .limits = {split_k_limits.least_k_tiles_per_slice, 0, w.kernel.most_rounds},
          .k_tiles = w.k_tiles,
          .tiles = w.tiles,
          .cluster = w.kernel.traits.cluster,
          .at_once = w.clusters * w.kernel.resident,
          .alone_root = w.kernel.alone_root,
          .k_root = k_root_of(w.traffic, w.kernel)};
}

/// Chooses where K may be cut; `best` is K in one piece at first.
void choose_cut(const Work& w, std::size_t max_workspace, Estimate& best) {
  const SplitKWork cut = split_k_work(w, max_workspace);
  const Controls& fixed = w.problem.controls;
  const CutModel model = {w};
  SplitKChoice<CutModel> choice = {model, cut, best};
  if (may_cut_by_cluster(w)) {
    (void)choice.consider(cluster_way(w));
    // Slices of clusters cost less: there is no better number of others, unless clusters have too few blocks.
    if (choice.is_cut && !fixed.split_k_slices && choice.best.controls.split_k_slices < most_cluster_slices)
      return;
  }
  // Reductions compute each element by itself, and do not read all sums.
  const bool may_reduce = !w.traffic.is_wide && w.kernel.traits.cuts_in_parallel;
  if (may_reduce && (!fixed.mode || fixed.mode == Mode::split_k_parallel)) {
    (void)choice.consider(parallel_way(w.kernel, w.traffic, w.kernel.most_slices));
  }
}

/// As estimate.
Estimate estimate_by(const GemmTraffic& traffic, const GemmProfile& kernel, const GemmProblem& problem,
                     std::size_t max_workspace) {
  const Work w = work(kernel, problem, traffic);
  const Controls& fixed = problem.controls;
  const Order order = balanced_order(w, traffic.smaller);
  Estimate result = {{fixed.mode.value_or(Mode::gemm), 1, fixed.swizzle.value_or(order.swizzle),
                      fixed.raster.value_or(order.raster)},
                     kernel_seconds(w, {w.tiles, w.k_tiles, w.clusters})};
  if (may_cut(split_k_work(w, max_workspace), result.seconds)) choose_cut(w, max_workspace, result);
  return result;
}

/// The same of a problem that nobody weighed; apart, as it needs room that a query does not.
[[gnu::noinline]] Estimate estimate_unweighed(const GemmProfile& kernel, const GemmProblem& problem,
                                              std::size_t max_workspace) {
  return estimate_by(traffic_of(problem), kernel, problem, max_workspace);
}

}  // namespace

// Calls take a third of a query's time: so all is inlined.
[[gnu::flatten]] Estimate estimate(const GemmProfile& kernel, const GemmProblem& problem,
                                   std::size_t max_workspace) {
  if (problem.traffic) return estimate_by(*problem.traffic, kernel, problem, max_workspace);
  return estimate_unweighed(kernel, problem, max_workspace);
}

namespace {

/// As account, of a problem whose tiles an int counts.
Account counted_account(const GemmProfile& kernel, const GemmProblem& problem, std::size_t max_workspace) {
  const GemmTraffic traffic = traffic_of(problem);
  const Work w = work(kernel, problem, traffic);
  const Estimate estimate = gemm_sm90::estimate(kernel, problem, max_workspace);
  Account account = begin_account(problem, w.memory, bytes_moved(w));
  const Mode mode = simplified(estimate.controls).mode;
  const int slices = estimate.controls.split_k_slices;
  const int k_tiles = tiles_along(w.k_tiles, slices);
  account.seconds = estimate.seconds;
  account[TimePart::launch] = kernel.launch;
  account[TimePart::exchange] =
      estimate.seconds - (leaves_expression(mode, problem) ? plain_cut_seconds(w, slices, k_tiles, &account)
                                                           : cut_seconds(w, mode, slices, k_tiles, &account));
  scale_parts(account, promised);
  return account;
}

}  // namespace

Account account(const GemmProfile& kernel, const GemmProblem& problem, std::size_t max_workspace) {
  return account_of_parts(kernel.traits, problem, [&](const GemmProblem& part) {
    return counted_account(kernel, part, max_workspace);
  });
}

}  // namespace quarry::gemm_sm90
