/// Choosing how K is cut, for all GEMM families: which split-K mode, and how many slices. Host only.
///
/// A family says what its kernel costs on a problem (its model, see SplitKChoice), which ways it has to
/// exchange partial sums and what these cost. The number of slices of a way is that at which one more costs
/// in exchange what it saves of the main loop. The fastest of the ways and of K in one piece wins among those
/// that fit the workspace.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "gemm/family.hpp"
#include "gemm/host.hpp"

namespace quarry {

/// From when on a family cuts K where the caller leaves it open.
struct SplitKLimits {
  /// Fewer K tiles a slice do not fill a pipeline.
  int least_k_tiles_per_slice;
  /// Below that, no cut pays for its reduction.
  double least_seconds = 0;
  /// Slices of how many rounds of blocks are considered: more than one pays where few outputs are the sums of
  /// very many products.
  int most_rounds = 1;
};

/// A split-K mode, and what it costs in seconds.
struct SplitKWay {
  Mode mode;
  /// More are not chosen, though a caller may ask for them.
  int most_slices;
  /// Exchanging partial sums: for its own sake, for each slice beyond the first, and what the slices share
  /// among them.
  double once;
  double slice;
  double share = 0;
  /// For each slice beyond the first, whatever the output's size: it does not decide how many slices there
  /// are.
  double overhead = 0;
  /// SplitKWork::alone_root divided by the root of `slice`, about; 0: not known.
  double balance = 0;
};

/// Seconds for each slice of split_k_parallel: partial outputs are written, and read again by the reduction.
inline double parallel_slice(const GemmProfile& kernel, const GemmTraffic& traffic) {
  return kernel.partial_byte * traffic.elements * partial_bytes(kernel.traits);
}

/// Whether a way leaves the problem's expression to the reduction: the kernel stores plain sums then.
inline bool leaves_expression(Mode mode, const GemmProblem& problem) {
  return mode == Mode::split_k_parallel && problem.expressed;
}

/// Seconds by which each slice makes the reduction longer, besides its bytes: threads wait for one slice's
/// sums after another. From 318 random problems on an H100, whose times with 20 slices and more were 1.08 of
/// the predictions.
constexpr double slice_overhead = 0.05e-6;

/// The reduction moves the matrices of an expression, too.
inline SplitKWay parallel_way(const GemmProfile& kernel, const GemmTraffic& traffic, int most_slices) {
  const double slice = parallel_slice(kernel, traffic);
  return {.mode = Mode::split_k_parallel,
          .most_slices = most_slices,
          .once = kernel.reduction + slice + traffic.expression * kernel.memory_byte,
          .slice = slice,
          .overhead = slice_overhead,
          .balance = kernel.parallel_balance * traffic.roots.outputs_inverse};
}

/// What kernels of a profile balance slices by.
inline void set_balances(GemmProfile& kernel) {
  kernel.k_root = SplitKRoots::index_of(kernel.traits.tile.k);
  kernel.serial_balance = kernel.alone_root / std::sqrt(kernel.turn);
  kernel.parallel_balance = kernel.alone_root / std::sqrt(kernel.partial_byte * partial_bytes(kernel.traits));
}

/// A kernel at work on a problem, as far as all families cut K alike.
struct SplitKWork {
  const Controls& fixed;
  std::size_t max_workspace;
  SplitKLimits limits;
  /// Of the whole problem.
  int k_tiles;
  /// Tiles of the output, each of a cluster of so many blocks (1: none), and how many of them run at once.
  int tiles;
  int cluster;
  int at_once;
  /// Square root of the seconds of a K tile.
  double alone_root;
  /// Square root of k_tiles, about; 0: not known.
  double k_root = 0;
};

/// SplitKWork::k_root of a problem.
inline double k_root_of(const GemmTraffic& traffic, const GemmProfile& kernel) {
  return traffic.roots.k_tiles[static_cast<std::size_t>(kernel.k_root)];
}

/// Whether K may be cut, and either the caller wants it or it may pay. @param whole_seconds in one piece
inline bool may_cut(const SplitKWork& w, double whole_seconds) {
  if (w.k_tiles < 2 || std::int64_t{2} * w.tiles * w.cluster > grid_limit) return false;
  if (w.fixed.mode == Mode::gemm || w.fixed.split_k_slices == 1) return false;
  if (w.fixed.mode || w.fixed.split_k_slices) return true;
  return whole_seconds >= w.limits.least_seconds && w.k_tiles >= 2 * w.limits.least_k_tiles_per_slice &&
         std::int64_t{2} * w.tiles <= w.limits.most_rounds * w.at_once;
}

/// The most slices of a way that run in so many rounds and have work enough for a pipeline; may be 0.
inline int most_filled_slices(const SplitKWork& w, const SplitKWay& way, int rounds = 1) {
  const auto by_tiles = static_cast<int>(
      divided(static_cast<unsigned>(w.at_once * rounds), static_cast<unsigned>(std::max(w.tiles, 1))));
  const unsigned by_depth =
      static_cast<unsigned>(w.k_tiles) / static_cast<unsigned>(w.limits.least_k_tiles_per_slice);
  return std::min({by_tiles, static_cast<int>(by_depth), way.most_slices});
}

/// The number of slices at which one more costs in exchange what it saves of the main loop. At least 2.
inline int balanced_slices(const SplitKWork& w, const SplitKWay& way) {
  const int most = most_filled_slices(w, way);
  // The root of k_tiles * alone / slice. The product of roots that are there already is right except for its
  // last digits, and is there sooner than a root: everything below waits for it.
  constexpr double margin = 1e-9;
  const double about = way.balance * w.k_root;
  const int slices = about < most ? static_cast<int>(about) : most;
  const double beyond = about - slices;
  if (beyond > margin && (slices == most || beyond < 1 - margin)) return std::max(2, slices);
  const double balance = w.alone_root * std::sqrt(w.k_tiles / way.slice);
  return std::max(2, balance < most ? static_cast<int>(balance) : most);
}

/// balanced_slices, or more where tiles leave multiprocessors idle in one round of blocks and fill several
/// with more slices. @tparam Model as SplitKChoice's
template <class Model>
int slices_of_rounds(const Model& model, const SplitKWork& w, const SplitKWay& way) {
  int best = balanced_slices(w, way);
  const auto needed = [&](int slices) {
    return model.seconds(way, slices, tiles_along(w.k_tiles, slices)) +
           (slices - 1) * (way.slice + way.overhead);
  };
  for (int rounds = 2; rounds <= w.limits.most_rounds; ++rounds) {
    const int slices = most_filled_slices(w, way, rounds);
    if (slices > best && needed(slices) < needed(best)) best = slices;
  }
  return best;
}

/// As many slices of so many K tiles as have work. Nearly always that is all that were asked for, and to tell
/// it takes no division, which all seconds would wait for. @param each k_tiles / slices, rounded up
inline int busy_slices(int k_tiles, int slices, int each) {
  const bool all = (slices - 1) * each < k_tiles;
  return all ? slices : tiles_along(k_tiles, each);
}

/// The choice among the ways that a family considers, one after another, and K in one piece. Where the caller
/// asked for a cut, the latter is chosen only if no cut fits the workspace.
/// @tparam Model what the family knows:
///   int slices(work, way)                  the best number, at least 2; without the caller's wish
///   double seconds(way, slices, k_tiles)   of the kernel without the exchange, with so many K tiles a slice
///   std::size_t workspace(mode, slices)
template <class Model>
struct SplitKChoice {
  const Model& model;
  const SplitKWork& work;
  /// At first K in one piece, with the order of tiles. Changed field by field: a copy of what was just
  /// written would wait for it.
  Estimate& best;
  /// Whether a cut was better.
  bool is_cut = false;

  /// Takes a way, with its best number of slices or the caller's, if it is better than what there is. Returns
  /// its workspace. @pre may_cut
  std::size_t consider(const SplitKWay& way) {
    const Controls& fixed = work.fixed;
    int slices =
        fixed.split_k_slices ? *fixed.split_k_slices : std::min(model.slices(work, way), work.k_tiles);
    const int k_tiles = tiles_along(work.k_tiles, slices);
    if (!fixed.split_k_slices) slices = busy_slices(work.k_tiles, slices, k_tiles);
    double seconds =
        model.seconds(way, slices, k_tiles) + way.once + (slices - 1) * (way.slice + way.overhead);
    if (way.share != 0) seconds += way.share / slices;
    const std::size_t workspace = model.workspace(way.mode, slices);
    const bool fits = workspace <= work.max_workspace;
    const bool must = !is_cut && (fixed.split_k_slices || (fixed.mode && fits));
    // The faster one where the workspace allows both, else the one that needs less.
    const bool both_fit = fits && best.workspace <= work.max_workspace;
    if (must || (both_fit ? seconds < best.seconds : workspace < best.workspace)) {
      best.controls.mode = way.mode;
      best.controls.split_k_slices = slices;
      best.seconds = seconds;
      best.workspace = workspace;
      is_cut = true;
    }
    return workspace;
  }
};

}  // namespace quarry
