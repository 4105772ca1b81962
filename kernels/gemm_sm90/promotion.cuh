/// Sums of blocks of 128 of K, which begin again at each block and join the finished sums times their scales.
#pragma once

#include "gemm_sm90/mainloop.cuh"
#include "gemm_sm90/scales.cuh"
#include "gemm_sm90/turns.cuh"

namespace quarry::gemm_sm90 {

/// finished += scales * sums.
template <Config config, bool by_column>
QUARRY_DEVICE void promote(FinishedSums<config>& finished, const Sums<config>& sums,
                           const LaneScales<config, by_column>& scales) {
  QUARRY_UNROLL
  for (int group = 0; group < config.tile.n / 8; ++group) {
    const auto factors = scales.of_group(group);
    for_each_sum<config>(sums, group, [&](int block, int half, int i, float sum) {
      float& value = finished.block[block].v[4 * group + 2 * half + i];
      value = arch::fma(factors.of(block, half, i), sum, value);
    });
  }
}

/// The sums of a block of 128 of K whose products are under way, and what is left to do with them.
template <Config config, bool by_column>
class BlockOfSums {
 public:
  QUARRY_DEVICE BlockOfSums() { hold<config>(sums_); }

  /// Starts the products of the block's one K tile.
  QUARRY_DEVICE void start(Pipeline<config>& pipeline, int group) {
    pipeline.wait();
    arch::warpgroup_fence();
    multiply_stage<config>(sums_, pipeline.stage(), group, 0);
    arch::warpgroup_commit();
    scales_ = Scales(pipeline.scales(), group * blocks_m(config) * instruction_m);
    empty_ = pipeline.empty();
    pipeline.advance();
  }

  /// Promotes the sums, which are there.
  QUARRY_DEVICE void finish(FinishedSums<config>& finished, const ClusterPlace& place) {
    hold<config>(sums_);
    if constexpr (Scales::is_read) leave(place);
    promote<config>(finished, sums_, scales_);
    hold<config>(sums_);
    if constexpr (!Scales::is_read) leave(place);
  }

 private:
  using Scales = LaneScales<config, by_column>;

  QUARRY_DEVICE void leave(const ClusterPlace& place) const {
    arch::warp_barrier();  // all lanes have read the scales
    release<config>(empty_, place);
  }

  Sums<config> sums_ = {};
  Scales scales_;
  arch::SharedAddress empty_;
};

/// As mainloop, of sums that are promoted while the next block's products are under way.
///
/// @tparam by_column scales differ by columns
template <Config config, bool by_column, class Work, class AllStarted>
QUARRY_DEVICE void two_set_mainloop(FinishedSums<config>& finished, Pipeline<config>& pipeline,
                                    const Work& work, int group, const ClusterPlace& place,
                                    const AllStarted& all_started) {
  finished = {};
  BlockOfSums<config, by_column> even, odd;
  int left = work.k_tiles;
  if (left == 0) {
    all_started();
    return;
  }
  even.start(pipeline, group);
  // Whether a block follows is no condition within the loop: ptxas would let no products overlap.
  QUARRY_ROLLED
  for (; left > 2; left -= 2) {
    odd.start(pipeline, group);
    arch::warpgroup_wait<1>();
    even.finish(finished, place);
    even.start(pipeline, group);
    arch::warpgroup_wait<1>();
    odd.finish(finished, place);
  }
  if (left == 2) {
    odd.start(pipeline, group);
    all_started();
    arch::warpgroup_wait<1>();
    even.finish(finished, place);
    arch::warpgroup_wait<0>();
    odd.finish(finished, place);
  } else {
    all_started();
    arch::warpgroup_wait<0>();
    even.finish(finished, place);
  }
}

/// Whether the two warpgroups that share a tile multiply in turns, a block of 128 of K each: one promotes its
/// one set of sums while the other's products are under way. Without turns both would be done at the same
/// time, as they share the multipliers, and leave these idle.
constexpr bool alternates(const Config& c) {
  return partial_sets(c) == 1 && c.schedule == Schedule::cooperative && consumers(c) == 2;
}

/// As mainloop, of sums that are promoted before the next block's products start.
///
/// @tparam by_column scales differ by columns @param is_last no tile follows
template <Config config, bool by_column, class Work, class AllStarted>
QUARRY_DEVICE void one_set_mainloop(FinishedSums<config>& finished, Pipeline<config>& pipeline,
                                    const Work& work, int group, const ClusterPlace& place, Turns& turns,
                                    bool is_last, const AllStarted& all_started) {
  using Scales = LaneScales<config, by_column>;
  constexpr int block_tiles = block_k_tiles(config);
  // A handover takes about 150 cycles by counting, of which these steps' products hide 64 (128 columns) or 96
  // (192) each. More than one has not been measured.
  constexpr int steps_after_handover = 1;
  constexpr int first_steps = stage_steps<config>() - steps_after_handover;
  const auto tiles_to_block_end = [](int k_tile, int left) {
    const int to_end = block_tiles - k_tile % block_tiles;
    return to_end < left ? to_end : left;
  };
  Sums<config> sums = {};
  finished = {};
  hold<config>(sums);
  if (work.k_tiles == 0) all_started();
  // The first steps are a group of their own: when they are done, the other warpgroup may start.
  const auto start = [&](int accumulate) {
    multiply_stage<config, 0, first_steps>(sums, pipeline.stage(), group, accumulate);
    arch::warpgroup_commit();
    multiply_stage<config, first_steps>(sums, pipeline.stage(), group);
    arch::warpgroup_commit();
  };
  QUARRY_ROLLED
  for (int tile = 0; tile < work.k_tiles;) {
    const int count =
        block_tiles == 1 ? 1 : tiles_to_block_end(work.first_k_tile + tile, work.k_tiles - tile);
    Pipeline<config> read = pipeline;
    pipeline.wait();
    if (alternates(config)) turns.wait();
    arch::warpgroup_fence();
    start(0);
    const Scales scales(pipeline.scales(), group * blocks_m(config) * instruction_m);
    pipeline.advance();
    QUARRY_ROLLED
    for (int i = 1; i < count; ++i, pipeline.advance()) {
      pipeline.wait();
      arch::warpgroup_fence();
      start(1);
    }
    tile += count;
    if (tile == work.k_tiles) all_started();
    arch::warp_barrier();  // all lanes have read the scales
    arch::warpgroup_wait<1>();
    if (alternates(config) && (group == 0 || tile < work.k_tiles || !is_last)) turns.pass_on();
    arch::warpgroup_wait<0>();
    hold<config>(sums);
    if constexpr (!Scales::is_read) {
      promote<config>(finished, sums, scales);
      arch::warp_barrier();  // all lanes have read them
    }
    QUARRY_ROLLED
    for (int i = 0; i < count; ++i, read.advance()) release<config>(read.empty(), place);
    if constexpr (Scales::is_read) promote<config>(finished, sums, scales);
  }
}

/// As mainloop, of sums that are promoted: the sums of a block of 128 of K begin again, and join the finished
/// ones times their scales.
///
/// @tparam by_column scales differ by columns @param is_last no tile follows
template <Config config, bool by_column, class Work, class AllStarted>
QUARRY_DEVICE void promoting_mainloop(FinishedSums<config>& finished, Pipeline<config>& pipeline,
                                      const Work& work, int group, const ClusterPlace& place, Turns& turns,
                                      bool is_last, const AllStarted& all_started) {
  if constexpr (partial_sets(config) == 2) {
    two_set_mainloop<config, by_column>(finished, pipeline, work, group, place, all_started);
  } else {
    one_set_mainloop<config, by_column>(finished, pipeline, work, group, place, turns, is_last, all_started);
  }
}

}  // namespace quarry::gemm_sm90
