/// Sums of blocks of 128 of K, which begin again at each block and join the finished sums times their scales.
#pragma once

#include "gemm_sm90/promotion_ahead.cuh"

namespace quarry::gemm_sm90 {

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

/// As one_set_mainloop, where each stage is a block of K and scales differ by columns: too many to be read
/// ahead. Unrolled, tiles take 2 to 5 % less. Its warpgroups take no turns, so that none is told that all
/// products are under way.
template <Config config, class Work>
QUARRY_DEVICE void unrolled_mainloop(FinishedSums<config>& finished, const Pipeline<config>& pipeline,
                                     const Work& work, int group, const ClusterPlace& place) {
  using Scales = LaneScales<config, true>;
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
    if constexpr (by_column) {
      unrolled_mainloop<config>(finished, pipeline, work, group, place);
    } else {
      ahead_mainloop<config>(finished, pipeline, work.k_tiles, group, place);
    }
  } else {
    one_set_mainloop<config, by_column>(finished, pipeline, work, group, place, all_started);
  }
}

}  // namespace quarry::gemm_sm90
