/// Which slices a block computes where slices may have two lengths.
#pragma once

#include "common/long_slices.hpp"
#include "gemm_sm90/work_list.cuh"

namespace quarry::gemm_sm90 {

/// As WorkList, of a persistent kernel. Without long slices it is the same.
template <Config config>
class LongSliceList {
  static constexpr bool is_clustered = config.cluster.m * config.cluster.n > 1;

 public:
  using Work = TileWork;
  static constexpr bool needs_warp = false;

  QUARRY_DEVICE LongSliceList(const TensorGemmParams& params, const LongSlices& longs,
                              const ClusterPlace& place)
      : params_(params.gemm), finder_(params.finder), longs_(longs), place_(place) {
    position_ = has_long_slices() ? block() - short_blocks() : long_works() + block();
  }

  QUARRY_DEVICE bool has_more() const {
    const auto works = static_cast<unsigned>(finder_.works);
    return position_ < (has_long_slices() ? long_works() : works);
  }

  QUARRY_DEVICE void advance() {
    position_ += has_long_slices() ? static_cast<unsigned>(longs_.blocks) : short_blocks();
  }

  QUARRY_DEVICE TileWork current() const {
    TileWork work = work_at(params_, finder_, position_);
    work.tile_m = work.tile_m * config.cluster.m + place_.m;
    work.tile_n = work.tile_n * config.cluster.n + place_.n;
    if (longs_.slices > 0) {
      const int all = finder_.k_tiles;
      work.first_k_tile = longs_.first_k_tile(work.slice, params_.k_tiles_per_slice, all);
      work.k_tiles = longs_.first_k_tile(work.slice + 1, params_.k_tiles_per_slice, all) - work.first_k_tile;
    }
    return work;
  }

 private:
  QUARRY_DEVICE static unsigned block() { return is_clustered ? arch::cluster_index() : arch::block_index(); }
  QUARRY_DEVICE unsigned short_blocks() const {
    const unsigned blocks = is_clustered ? arch::grid_clusters() : arch::grid_blocks();
    return blocks - static_cast<unsigned>(longs_.blocks);
  }
  QUARRY_DEVICE bool has_long_slices() const { return block() >= short_blocks(); }
  QUARRY_DEVICE unsigned long_works() const {
    return static_cast<unsigned>(finder_.tiles.size * longs_.slices);
  }

  const GemmParams& params_;
  const TileFinder& finder_;
  const LongSlices& longs_;
  const ClusterPlace& place_;
  unsigned position_;
};

}  // namespace quarry::gemm_sm90
