/// Which tiles a block computes, one after another.
#pragma once

#include "common/tile_scheduler.cuh"
#include "gemm_sm90/shape.cuh"

namespace quarry::gemm_sm90 {

/// The work of a block. All warpgroups of a block walk the same list, each on its own.
template <Config config>
class WorkList {
 public:
  using Work = TileWork;
  /// All lanes of a warp walk together; else any thread may walk by itself.
  static constexpr bool needs_warp = false;

  QUARRY_DEVICE WorkList(const TensorGemmParams& tensor, const ClusterPlace& place)
      : params_(tensor.gemm), place_(place) {
    const GemmParams& params = params_;
    if (params.mode == Mode::split_k_cluster) {
      // The slices of a tile are the blocks of a cluster.
      const unsigned tile = arch::cluster_index();
      const unsigned batch_and_slice = tile / tiles(params) * static_cast<unsigned>(params.slices) +
                                       static_cast<unsigned>(arch::cluster_rank());
      position_ = batch_and_slice * tiles(params) + tile % tiles(params);
    } else {
      position_ = config.cluster.m * config.cluster.n == 1 ? arch::block_index() : arch::cluster_index();
    }
  }

  QUARRY_DEVICE bool has_more() const { return position_ < all(); }

  /// Goes on by so many turns of the grid; to the end with one tile a block.
  QUARRY_DEVICE void advance(int turns = 1) {
    if constexpr (config.schedule == Schedule::one_tile) {
      position_ = all();
    } else {
      const unsigned grid =
          config.cluster.m * config.cluster.n == 1 ? arch::grid_blocks() : arch::grid_clusters();
      position_ += static_cast<unsigned>(turns) * grid;
    }
  }

  /// The tile of this block, which may lie outside the output where its cluster's does not.
  QUARRY_DEVICE TileWork current() const {
    TileWork work = work_at(params_, position_, config.tile.k);
    work.tile_m = work.tile_m * config.cluster.m + place_.m;
    work.tile_n = work.tile_n * config.cluster.n + place_.n;
    return work;
  }

 private:
  QUARRY_DEVICE unsigned all() const {
    return tiles(params_) * static_cast<unsigned>(params_.batch) * static_cast<unsigned>(params_.slices);
  }

  const GemmParams& params_;
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
