/// Sums of a block of 128 of K: started, promoted (added to the finished sums, times their scales), and their
/// stages released.
#pragma once

#include "gemm_sm90/mainloop.cuh"
#include "gemm_sm90/scales.cuh"

namespace quarry::gemm_sm90 {

/// Sums of 64 rows and a block of K.
template <Config config>
using BlockSums = Sums<config, 1>;

/// Waits until the next `k_tiles` stages have landed.
template <Config config>
QUARRY_DEVICE void wait_for_block(Pipeline<config> pipeline, int k_tiles) {
  pipeline.wait();
  if constexpr (block_k_tiles(config) > 1) {
    QUARRY_ROLLED
    for (int tile = 1; tile < k_tiles; ++tile) {
      pipeline.advance();
      pipeline.wait();
    }
  }
}

/// Starts the products of the next `k_tiles` stages, which have landed; they take the place of the sums. The
/// products of each stage but the last are waited for: ptxas takes no loop around products that are under
/// way, and lets each instruction wait for the one before it (C7520; 16-bit operands took 9 % longer).
/// @tparam block of the warpgroup's blocks of 64 rows
template <Config config, int block>
QUARRY_DEVICE void start_block(BlockSums<config>& sums, Pipeline<config> pipeline, int k_tiles, int group) {
  if constexpr (block_k_tiles(config) > 1) {
    QUARRY_ROLLED
    for (int tile = 1; tile < k_tiles; ++tile, pipeline.advance()) {
      arch::warpgroup_fence();
      multiply_stage<config, block>(sums, pipeline.stage(), group, tile > 1 ? 1 : 0);
      arch::warpgroup_commit();
      arch::warpgroup_wait<0>();
    }
  }
  arch::warpgroup_fence();
  multiply_stage<config, block>(sums, pipeline.stage(), group, k_tiles > 1 ? 1 : 0);
  arch::warpgroup_commit();
}

/// finished += scales * sums, of one of the warpgroup's blocks of 64 rows.
template <Config config, int block, bool by_column>
QUARRY_DEVICE void promote(FinishedSums<config>& finished, BlockSums<config>& sums,
                           const LaneScales<config, by_column>& scales) {
  hold<config>(sums);
  QUARRY_UNROLL
  for (int group = 0; group < config.tile.n / 8; ++group) {
    const auto factors = scales.of_group(group);
    for_each_sum<1>(sums, group, [&](int /*block*/, int half, int i, float sum) {
      float& value = finished.block[block].v[4 * group + 2 * half + i];
      value = arch::fma(factors.of(block, half, i), sum, value);
    });
  }
  hold<config>(sums);
}

/// Releases the next `k_tiles` stages.
template <Config config>
QUARRY_DEVICE void release_block(Pipeline<config>& pipeline, int k_tiles, const ClusterPlace& place) {
  QUARRY_ROLLED
  for (int tile = 0; tile < k_tiles; ++tile, pipeline.advance()) release<config>(pipeline.empty(), place);
}

/// Promotes the last sums of the next `k_tiles` stages, and releases these as soon as their scales are read.
/// All lanes have come to a barrier since they got theirs.
template <Config config, int block, bool by_column>
QUARRY_DEVICE void finish_block(FinishedSums<config>& finished, BlockSums<config>& sums,
                                const LaneScales<config, by_column>& scales, Pipeline<config>& pipeline,
                                int k_tiles, const ClusterPlace& place) {
  constexpr bool is_read = LaneScales<config, by_column>::is_read;
  if constexpr (is_read) release_block(pipeline, k_tiles, place);
  promote<config, block>(finished, sums, scales);
  if constexpr (!is_read) {
    arch::warp_barrier();  // all lanes have read the scales of columns
    release_block(pipeline, k_tiles, place);
  }
}

}  // namespace quarry::gemm_sm90
