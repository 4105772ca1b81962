/// Choosing how K is cut, for all GEMM families: which split-K mode, and how many slices. Host only.
///
/// A family says what its kernel costs on a problem (its model, see best_cut), which ways it has to exchange
/// partial sums and what these cost. The number of slices of a way is that at which one more costs in
/// exchange what it saves of the main loop. The fastest of the ways and of K in one piece wins among those
/// that fit the workspace.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "gemm/family.hpp"
#include "gemm/host.hpp"

namespace quarry {

/// From when on a family cuts K where the caller leaves it open.
struct SplitKLimits {
  /// Fewer K tiles a slice do not fill a pipeline.
  int least_k_tiles_per_slice;
  /// Below that, no cut pays for its reduction.
  double least_seconds = 0;
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
};

/// The ways that are open to a kernel, the preferred one first.
struct SplitKWays {
  SplitKWay at[2];
  int count;

  const SplitKWay* begin() const { return at; }
  const SplitKWay* end() const { return at + count; }
};

/// Partial outputs are written, and read again by the reduction.
inline SplitKWay parallel_way(const GemmProfile& kernel, const GemmProblem& problem, int most_slices) {
  const int bytes = kernel.traits.accumulator == DType::f64 ? 8 : 4;
  const double outputs = static_cast<double>(problem.m) * problem.n * problem.batch;
  const double slice = kernel.partial_traffic * outputs * bytes * kernel.memory_byte;
  return {Mode::split_k_parallel, most_slices, kernel.next_operation + slice, slice};
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
};

/// Whether K may be cut, and either the caller wants it or it may pay. @param whole_seconds in one piece
inline bool may_cut(const SplitKWork& w, double whole_seconds) {
  if (w.k_tiles < 2 || w.tiles > grid_limit / (2 * w.cluster)) return false;
  if (w.fixed.mode == Mode::gemm || w.fixed.split_k_slices == 1) return false;
  if (w.fixed.mode || w.fixed.split_k_slices) return true;
  return whole_seconds >= w.limits.least_seconds && w.k_tiles >= 2 * w.limits.least_k_tiles_per_slice &&
         w.tiles <= w.at_once / 2;
}

/// The most slices of a way that run at once and have work enough for a pipeline; may be 0.
inline int most_filled_slices(const SplitKWork& w, const SplitKWay& way) {
  const int by_tiles = w.at_once / std::max(w.tiles, 1);
  return std::min({by_tiles, w.k_tiles / w.limits.least_k_tiles_per_slice, way.most_slices});
}

/// The number of slices at which one more costs in exchange what it saves of the main loop. At least 2.
inline int balanced_slices(const SplitKWork& w, const SplitKWay& way) {
  const int most = most_filled_slices(w, way);
  // The root of k_tiles * alone / slice; what depends on the problem alone is a factor of its own, to be
  // ready early.
  const double balance = w.alone_root * std::sqrt(w.k_tiles / way.slice);
  return std::max(2, balance < most ? static_cast<int>(balance) : most);
}

/// Whether one choice is to be preferred: the faster one where the workspace allows both, else the one that
/// needs less.
inline bool is_better(const Estimate& one, const Estimate& other, std::size_t max_workspace) {
  const bool both_fit = one.workspace <= max_workspace && other.workspace <= max_workspace;
  return both_fit ? one.seconds < other.seconds : one.workspace < other.workspace;
}

/// A way with its best number of slices, or the caller's. @param order of the tiles
template <class Model>
Estimate evaluate_cut(const Model& model, const SplitKWork& w, const SplitKWay& way,
                      const ChosenControls& order) {
  const std::optional<int>& fixed = w.fixed.split_k_slices;
  Estimate result = {order, 0, 0};
  int slices = fixed ? *fixed : std::min(model.slices(w, way), w.k_tiles);
  const int k_tiles = tiles_along(w.k_tiles, slices);
  if (!fixed) slices = tiles_along(w.k_tiles, k_tiles);  // none is left without work
  result.controls.mode = way.mode;
  result.controls.split_k_slices = slices;
  result.seconds = model.seconds(way, slices, k_tiles) + way.once + (slices - 1) * way.slice;
  if (way.share > 0) result.seconds += way.share / slices;
  result.workspace = model.workspace(result.controls);
  return result;
}

/// The best way to cut K, or `whole`, K in one piece; where the caller asked for a cut, the latter only if no
/// cut fits the workspace.
/// @param model what the family knows:
///   int slices(work, way)                  the best number, at least 2; without the caller's wish
///   double seconds(way, slices, k_tiles)   of the kernel without the exchange, with so many K tiles a slice
///   std::size_t workspace(controls)
///   bool is_enough(estimate, is_cut)       whether the ways after this one need not be tried; is_cut: one of
///                                          those tried is better than `whole`
/// @pre may_cut
template <class Model>
Estimate best_cut(const Model& model, const SplitKWork& w, const SplitKWays& ways, const Estimate& whole) {
  Estimate best = whole;
  bool is_cut = false;
  for (const SplitKWay& way : ways) {
    if (w.fixed.mode && *w.fixed.mode != way.mode) continue;
    const Estimate cut = evaluate_cut(model, w, way, whole.controls);
    const bool must =
        !is_cut && (w.fixed.split_k_slices || (w.fixed.mode && cut.workspace <= w.max_workspace));
    if (must || is_better(cut, best, w.max_workspace)) {
      best = cut;
      is_cut = true;
    }
    if (model.is_enough(cut, is_cut)) break;
  }
  return best;
}

}  // namespace quarry
