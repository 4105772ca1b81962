/// Which tiles of which problems a block computes. Sizes are read here, on the device.
#pragma once

#include "arch/arch.hpp"
#include "common/tile_scheduler.cuh"
#include "gemm_list/params.hpp"

namespace quarry {

/// A problem of a list (see BatchEntry of common/tile_scheduler.cuh).
struct ListEntry {
  static constexpr bool has_neighbours = true;

  int batch;  ///< its number
  ListExtents extents;

  QUARRY_DEVICE int m() const { return extents.m; }
  QUARRY_DEVICE int n() const { return extents.n; }
  QUARRY_DEVICE int k() const { return extents.k; }
  QUARRY_DEVICE OperandBase a() const { return {batch, 0, 0}; }
  QUARRY_DEVICE OperandBase b() const { return {batch, 0, 0}; }
  QUARRY_DEVICE OperandBase out() const { return {batch, 0, 0}; }
};
using ListWork = WorkOf<ListEntry>;

/// Elements of K in the work: all that the problem has (see k_elements of common/tile_scheduler.cuh).
QUARRY_DEVICE int k_elements(const ListWork& work, int /*tile_k*/) { return work.k(); }

/// The blocks of a grid, each of which walks by itself.
struct SingleBlocks {
  QUARRY_DEVICE static unsigned index() { return arch::block_index(); }
  QUARRY_DEVICE static unsigned count() { return arch::grid_blocks(); }
};

/// Walks over the block's tiles: every so many of all problems' tiles, in their order; within one, down the
/// columns of tiles, so that blocks which run together share columns of B. Sizes are read 32 at a time, a
/// lane each: so many problems cost no more than a few reads one after another. Each warp walks on its own,
/// all lanes together.
/// @tparam Params as GemmListParams @tparam Blocks which walk together: SingleBlocks, or clusters
/// @tparam unit what N counts in
template <class Params, class Blocks = SingleBlocks, int unit = 1>
class ListWalk {
 public:
  QUARRY_DEVICE ListWalk(const Params& params, Tile tile)
      : params_(params),
        tile_(tile),
        position_(Blocks::index() - static_cast<long long>(Blocks::count())),
        last_(is_scheduled() ? 0 : params.gemm.batch) {}

  /// Goes on to the block's next tile; false behind the last.
  QUARRY_DEVICE bool advance() {
    position_ += Blocks::count();
    QUARRY_ROLLED
    for (;;) {
      if (is_scheduled() && position_ >= stretch_end_ && !enter_stretch()) return false;
      lane_ = arch::first_lane(position_ < tile_end_);
      if (lane_ >= 0) return true;
      if (next_ < last_) {
        read();
      } else if (is_scheduled()) {
        position_ += Blocks::count();  // the problems have fewer tiles than the host counted
      } else {
        return false;
      }
    }
  }

  /// The number of the tile's problem.
  QUARRY_DEVICE int problem() const { return static_cast<int>(next_) - 32 + lane_; }

  /// The extents of the tile's problem.
  QUARRY_DEVICE ListExtents extents() const {
    return {arch::shuffle(extents_.m, lane_), arch::shuffle(extents_.n, lane_),
            arch::shuffle(extents_.k, lane_)};
  }

  /// The number of the tile in its problem. @param own extents()
  QUARRY_DEVICE long long tile(const ListExtents& own) const {
    return position_ - (shuffled(tile_end_, lane_) - tiles(own));
  }

  /// The tile as work, of all of K.
  QUARRY_DEVICE ListWork work() const {
    const ListExtents own = {arch::shuffle(extents_.m, lane_), arch::shuffle(extents_.n, lane_),
                             arch::shuffle(extents_.k, lane_)};
    const int tiles_m = parts(own.m, tile_.m);
    const long long in_problem = position_ - (shuffled(tile_end_, lane_) - tiles(own));
    ListWork work = {{static_cast<int>(next_) - 32 + lane_, own}, 0, 0, 0, 0, 0};
    work.tile_m = static_cast<int>(in_problem % tiles_m);
    work.tile_n = static_cast<int>(in_problem / tiles_m);
    work.k_tiles = parts(own.k, tile_.k);
    return work;
  }

  QUARRY_DEVICE static int parts(int extent, int size) { return extent / size + (extent % size != 0); }

 private:
  QUARRY_DEVICE long long tiles(const ListExtents& own) const {
    return static_cast<long long>(parts(own.m, tile_.m)) * parts(own.n, tile_.n);
  }

  QUARRY_DEVICE static long long shuffled(long long value, int lane) {
    const auto low = static_cast<unsigned>(arch::shuffle(static_cast<int>(value), lane));
    const int high = arch::shuffle(static_cast<int>(value >> 32), lane);
    return static_cast<long long>(static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 | low);
  }

  /// Whether the host counted tiles.
  QUARRY_DEVICE bool is_scheduled() const { return params_.list.stretches.problems > 0; }

  /// Goes on to the stretch of the position; false behind the last.
  QUARRY_DEVICE bool enter_stretch() {
    const ListStretches& list = params_.list.stretches;
    const int stretch = stretch_of(list, position_);
    if (stretch == list_stretches) return false;
    stretch_end_ = list.ends[stretch];
    tile_end_ = stretch == 0 ? 0 : list.ends[stretch - 1];
    next_ = static_cast<long long>(stretch) * list.problems;
    last_ = next_ + list.problems < params_.gemm.batch ? next_ + list.problems : params_.gemm.batch;
    return true;
  }

  /// Reads the next problems, and adds up their tiles.
  QUARRY_DEVICE void read() {
    const int lane = arch::lane_index();
    const long long number = next_ + lane;
    const long long before = shuffled(tile_end_, 31);
    extents_ = {};
    if (number < last_) {
      const int* const row = params_.list.sizes + number * list_extents;
      extents_ = clamped_extents(params_.gemm, {arch::global_load<int>(row), arch::global_load<int>(row + 1),
                                                arch::global_load<int>(row + 2)});
      extents_ = in_units(extents_, unit);
    }
    tile_end_ = tiles(extents_);
    QUARRY_ROLLED
    for (int step = 1; step < 32; step *= 2) {
      const long long other = shuffled(tile_end_, lane - step);
      if (lane >= step) tile_end_ += other;
    }
    tile_end_ += before;
    next_ += 32;
  }

  const Params& params_;
  Tile tile_;
  long long position_;
  long long last_;             ///< the first problem behind the stretch
  long long stretch_end_ = 0;  ///< where the tiles of the stretch end
  long long next_ = 0;         ///< the problem behind the lanes' problems
  long long tile_end_ = 0;     ///< where the tiles end of this lane's problem and those before
  int lane_ = -1;              ///< whose problem the tile is of
  ListExtents extents_ = {};
};

/// The operands of a problem.
/// @param alignment elements that their leading dimensions are multiples of
template <class Params>
QUARRY_DEVICE ListOperands operands_of(const Params& params, const ListEntry& problem, Alignment alignment) {
  const ListParams& list = params.list;
  if (list.leading == nullptr) return {params.gemm.a, params.gemm.b};
  const int a = arch::global_load<int>(leading_at(list, problem.batch, ListMatrix::a));
  const int b = arch::global_load<int>(leading_at(list, problem.batch, ListMatrix::b));
  return operands_with_leading(params.gemm, list, problem.extents, a, b, alignment);
}

/// The parameters that a problem's outputs are written by. To be called behind the main loop, so that these
/// take no registers while it runs.
QUARRY_DEVICE GemmParams outputs_of(const GemmListParams& params, const ListEntry& problem) {
  const ListParams& list = params.list;
  if (list.leading == nullptr) return params.gemm;
  const int c = arch::global_load<int>(leading_at(list, problem.batch, ListMatrix::c));
  const int out = arch::global_load<int>(leading_at(list, problem.batch, ListMatrix::out));
  return outputs_with_leading(params.gemm, list, problem.extents, c, out);
}

/// Calls `compute(work)` for each tile that is the block's. @tparam unit as of ListWalk
template <Tile tile, int unit = 1, class Compute>
QUARRY_DEVICE void for_each_list_tile(const GemmListParams& params, const Compute& compute) {
  ListWalk<GemmListParams, SingleBlocks, unit> walk(params, tile);
  QUARRY_ROLLED
  while (walk.advance()) compute(walk.work());
}

}  // namespace quarry
