/// Which tiles a block computes, one after another.
#pragma once

#include "common/tile_scheduler.cuh"
#include "gemm_sm90/params.hpp"
#include "gemm_sm90/shape.cuh"

namespace quarry::gemm_sm90 {

/// The work at a position, as work_at finds it.
QUARRY_DEVICE TileWork work_at(const GemmParams& params, const TileFinder& finder, unsigned position) {
  const Divided outer = divide(static_cast<int>(position), finder.tiles);
  const Divided batch = divide(outer.quotient, finder.slices);
  const Divided group = divide(outer.rest, finder.group);
  const Divided narrow = divide(group.rest, finder.last_width);
  const bool is_narrow = group.quotient == finder.whole_groups;
  const int log2 = params.swizzle_log2;
  const int row = is_narrow ? narrow.quotient : group.rest >> log2;
  const int column = (group.quotient << log2) + (is_narrow ? narrow.rest : group.rest & ((1 << log2) - 1));
  const bool along_m = params.raster == Raster::along_m;
  TileWork work = {{params, batch.quotient}, batch.rest, 0, 0, 0, 0};
  work.tile_m = along_m ? column : row;
  work.tile_n = along_m ? row : column;
  const long long first = static_cast<long long>(work.slice) * params.k_tiles_per_slice;
  work.first_k_tile = first < finder.k_tiles ? static_cast<int>(first) : finder.k_tiles;
  work.k_tiles = finder.k_tiles - work.first_k_tile;
  if (params.slices > 1 && work.k_tiles > params.k_tiles_per_slice) work.k_tiles = params.k_tiles_per_slice;
  return work;
}

/// The work of a block. All warpgroups of a block walk the same list, each on its own.
template <Config config>
class WorkList {
 public:
  using Work = TileWork;
  /// All lanes of a warp walk together; else any thread may walk by itself.
  static constexpr bool needs_warp = false;

  QUARRY_DEVICE WorkList(const TensorGemmParams& tensor, const ClusterPlace& place)
      : params_(tensor.gemm), finder_(tensor.finder), place_(place) {
    if (params_.mode == Mode::split_k_cluster) {
      // The slices of a tile are the blocks of a cluster.
      const Divided tile = divide(static_cast<int>(arch::cluster_index()), finder_.tiles);
      const int slice = tile.quotient * finder_.slices.size + arch::cluster_rank();
      position_ = static_cast<unsigned>(slice * finder_.tiles.size + tile.rest);
    } else {
      position_ = config.cluster.m * config.cluster.n == 1 ? arch::block_index() : arch::cluster_index();
    }
  }

  QUARRY_DEVICE bool has_more() const { return position_ < static_cast<unsigned>(finder_.works); }

  /// Goes on by so many turns of the grid; to the end with one tile a block.
  QUARRY_DEVICE void advance(int turns = 1) {
    if constexpr (config.schedule == Schedule::one_tile) {
      position_ = static_cast<unsigned>(finder_.works);
    } else {
      const unsigned grid =
          config.cluster.m * config.cluster.n == 1 ? arch::grid_blocks() : arch::grid_clusters();
      position_ += static_cast<unsigned>(turns) * grid;
    }
  }

  /// The tile of this block, which may lie outside the output where its cluster's does not.
  QUARRY_DEVICE TileWork current() const {
    TileWork work = work_at(params_, finder_, position_);
    work.tile_m = work.tile_m * config.cluster.m + place_.m;
    work.tile_n = work.tile_n * config.cluster.n + place_.n;
    return work;
  }

 private:
  const GemmParams& params_;
  const TileFinder& finder_;
  const ClusterPlace& place_;
  unsigned position_;
};

/// The list of a launch with such parameters. A family that shares this main loop, but whose tiles are of
/// other problems, has parameters of its own, which begin with these, and a list for them.
template <Config config, class Params>
struct WorkListOf {
  using Type = WorkList<config>;
};
template <Config config, class Params>
using WorkOfParams = typename WorkListOf<config, Params>::Type::Work;

}  // namespace quarry::gemm_sm90
