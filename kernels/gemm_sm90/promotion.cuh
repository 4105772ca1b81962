/// Sums of blocks of 128 of K, which begin again at each block and join the finished sums times their scales.
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

/// As mainloop, of sums that are promoted before the next products start, 64 rows after another.
/// Meanwhile another warpgroup of the block, or another block, multiplies: they come to this by themselves.
/// (Where two warpgroups took turns at multiplying, tiles of 128 x 128 took 6 % longer and of 128 x 192 7 %.
/// Where the next stage was waited for before the promotion, tiles took 4 to 8 % longer.)
/// Scales are read before the products start: after, the compiler puts the reads between them, where the last
/// ones wait for what was read, and tiles of 256 x 128 take 10 % longer.
///
/// @tparam by_column scales differ by columns
template <Config config, bool by_column, class Work, class AllStarted>
QUARRY_DEVICE void one_set_mainloop(FinishedSums<config>& finished, Pipeline<config>& pipeline,
                                    const Work& work, int group, const ClusterPlace& place,
                                    const AllStarted& all_started) {
  using Scales = LaneScales<config, by_column>;
  constexpr int block_tiles = block_k_tiles(config);
  constexpr int last = blocks_m(config) - 1;
  static_assert(last <= 1);
  const auto tiles_to_block_end = [](int k_tile, int left) {
    const int to_end = block_tiles - k_tile % block_tiles;
    return to_end < left ? to_end : left;
  };
  BlockSums<config> sums = {};
  finished = {};
  hold<config>(sums);
  if (work.k_tiles == 0) all_started();
  QUARRY_ROLLED
  for (int tile = 0; tile < work.k_tiles;) {
    const int k_tiles =
        block_tiles == 1 ? 1 : tiles_to_block_end(work.first_k_tile + tile, work.k_tiles - tile);
    wait_for_block(pipeline, k_tiles);
    const Scales scales(pipeline.scales(), group * blocks_m(config) * instruction_m);
    start_block<config, 0>(sums, pipeline, k_tiles, group);
    if constexpr (last > 0) {
      arch::warpgroup_wait<0>();
      promote<config, 0>(finished, sums, scales);
      start_block<config, last>(sums, pipeline, k_tiles, group);
    }
    tile += k_tiles;
    arch::warp_barrier();
    if (tile == work.k_tiles) all_started();
    arch::warpgroup_wait<0>();
    finish_block<config, last>(finished, sums, scales, pipeline, k_tiles, place);
  }
}

/// As one_set_mainloop, where each stage is a block of K. Unrolled, tiles take 2 to 5 % less. Its warpgroups
/// take no turns, so that none is told that all products are under way.
///
/// @tparam by_column scales differ by columns
template <Config config, bool by_column, class Work>
QUARRY_DEVICE void unrolled_mainloop(FinishedSums<config>& finished, const Pipeline<config>& pipeline,
                                     const Work& work, int group, const ClusterPlace& place) {
  using Scales = LaneScales<config, by_column>;
  constexpr int last = blocks_m(config) - 1;
  static_assert(last <= 1 && block_k_tiles(config) == 1);
  BlockSums<config> sums = {};
  finished = {};
  hold<config>(sums);
  for_each_stage(pipeline, work.k_tiles, [&](Pipeline<config> stage) {
    stage.wait();
    const Scales scales(stage.scales(), group * blocks_m(config) * instruction_m);
    start_block<config, 0>(sums, stage, 1, group);
    if constexpr (last > 0) {
      arch::warpgroup_wait<0>();
      promote<config, 0>(finished, sums, scales);
      start_block<config, last>(sums, stage, 1, group);
    }
    arch::warp_barrier();
    arch::warpgroup_wait<0>();
    finish_block<config, last>(finished, sums, scales, stage, 1, place);
  });
}

/// As mainloop, of sums in two sets: one is promoted while the products of the other are under way. For a
/// warpgroup that multiplies alone, whose multipliers would be idle meanwhile.
///
/// @tparam by_column scales differ by columns
template <Config config, bool by_column, class Work, class AllStarted>
QUARRY_DEVICE void two_set_mainloop(FinishedSums<config>& finished, Pipeline<config>& pipeline,
                                    const Work& work, int group, const ClusterPlace& place,
                                    const AllStarted& all_started) {
  using Scales = LaneScales<config, by_column>;
  BlockSums<config> even = {}, odd = {};
  finished = {};
  hold<config>(even);
  hold<config>(odd);
  int left = work.k_tiles;
  if (left == 0) all_started();
  QUARRY_ROLLED
  for (; left >= 2; left -= 2) {
    Pipeline<config> next = pipeline;
    next.advance();
    pipeline.wait();
    start_block<config, 0>(even, pipeline, 1, group);
    const Scales even_scales(pipeline.scales(), group * instruction_m);
    next.wait();
    start_block<config, 0>(odd, next, 1, group);
    const Scales odd_scales(next.scales(), group * instruction_m);
    arch::warp_barrier();
    if (left == 2) all_started();
    arch::warpgroup_wait<1>();
    finish_block<config, 0>(finished, even, even_scales, pipeline, 1, place);
    arch::warpgroup_wait<0>();
    finish_block<config, 0>(finished, odd, odd_scales, pipeline, 1, place);
  }
  if (left == 1) {
    pipeline.wait();
    start_block<config, 0>(even, pipeline, 1, group);
    const Scales scales(pipeline.scales(), group * instruction_m);
    arch::warp_barrier();
    all_started();
    arch::warpgroup_wait<0>();
    finish_block<config, 0>(finished, even, scales, pipeline, 1, place);
  }
}

/// As mainloop, of sums that are promoted: the sums of a block of 128 of K begin again, and join the finished
/// ones times their scales.
///
/// @tparam by_column scales differ by columns
template <Config config, bool by_column, class Work, class AllStarted>
QUARRY_DEVICE void promoting_mainloop(FinishedSums<config>& finished, Pipeline<config>& pipeline,
                                      const Work& work, int group, const ClusterPlace& place,
                                      const AllStarted& all_started) {
  if constexpr (partial_sets(config) == 2) {
    two_set_mainloop<config, by_column>(finished, pipeline, work, group, place, all_started);
  } else if constexpr (block_k_tiles(config) == 1 && config.schedule == Schedule::cooperative) {
    unrolled_mainloop<config, by_column>(finished, pipeline, work, group, place);
  } else {
    one_set_mainloop<config, by_column>(finished, pipeline, work, group, place, all_started);
  }
}

}  // namespace quarry::gemm_sm90
