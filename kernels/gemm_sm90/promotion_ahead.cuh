/// The main loop of sums that are promoted, with the next block of K made ready while products are under way.
#pragma once

#include "gemm_sm90/block_sums.cuh"

namespace quarry::gemm_sm90 {

/// What one warpgroup does with the blocks of K of a tile, a stage each, where strips of columns share their
/// scales. The next stage is waited for, and its scales are read, while the products of this one are under
/// way. Nothing but promotions lies between the products of two blocks: no wait, no read, and no branch.
template <Config config>
class BlocksAhead {
 public:
  /// Waits for the first block. @param pipeline at its stage
  QUARRY_DEVICE BlocksAhead(FinishedSums<config>& finished, BlockSums<config>& sums,
                            const Pipeline<config>& pipeline, int group, const ClusterPlace& place)
      : finished_(finished), sums_(sums), group_(group), place_(place) {
    make_ready(pipeline);
  }

  using Scales = LaneScales<config, false>;

  /// Starts the products of a stage that was made ready. Those of its last 64 rows are under way then.
  /// @return their scales
  QUARRY_DEVICE Scales start(const Pipeline<config>& stage) {
    const Scales scales = ready_.products();
    start_block<config, 0>(sums_, stage, 1, group_);
    if constexpr (last > 0) {
      arch::warpgroup_wait<0>();
      promote<config, 0>(finished_, sums_, scales);
      hold<config>(finished_);  // else the compiler moves promotions behind the next products, and spills
      start_block<config, last>(sums_, stage, 1, group_);
    }
    return scales;
  }

  /// Makes the stage that follows ready, then promotes the sums of this one and releases it.
  QUARRY_DEVICE void go_on(const Pipeline<config>& stage, const Scales& scales) {
    Pipeline<config> next = stage;
    next.advance();
    make_ready(next);
    end(stage.empty(), scales);
  }

  /// Promotes the sums of a stage, and releases it: the last one of a tile.
  QUARRY_DEVICE void end(arch::SharedAddress empty, const Scales& scales) {
    arch::warp_barrier();  // all lanes have read its scales
    arch::warpgroup_wait<0>();
    release<config>(empty, place_);
    promote<config, last>(finished_, sums_, scales);
    if constexpr (last > 0) hold<config>(finished_);
  }

 private:
  static constexpr int last = blocks_m(config) - 1;
  static_assert(last <= 1 && block_k_tiles(config) == 1);

  QUARRY_DEVICE void make_ready(const Pipeline<config>& stage) {
    stage.wait();
    ready_.read(stage.scales(), group_ * blocks_m(config) * instruction_m);
  }

  FinishedSums<config>& finished_;
  BlockSums<config>& sums_;
  int group_;
  const ClusterPlace& place_;
  StripScales<config> ready_;
};

/// The last block of a tile, whose products are under way.
template <Config config>
struct LastBlock {
  arch::SharedAddress empty;
  typename BlocksAhead<config>::Scales scales;
};

/// Multiplies `left` blocks, at least one, and promotes all except the last. Whole rounds of the ring are
/// unrolled: what follows from a stage's number is constant, and which block is the last is known before its
/// products are waited for.
template <Config config>
QUARRY_DEVICE LastBlock<config> multiply_blocks(BlocksAhead<config>& blocks, Pipeline<config> pipeline,
                                                int left) {
  QUARRY_ROLLED
  while (pipeline.index() != 0) {
    const auto scales = blocks.start(pipeline);
    if (--left == 0) return {pipeline.empty(), scales};
    blocks.go_on(pipeline, scales);
    pipeline.advance();
  }
  QUARRY_ROLLED
  for (;;) {
    QUARRY_UNROLL
    for (int index = 0; index < config.stages; ++index) {
      const Pipeline<config> stage = pipeline.at(index);
      const auto scales = blocks.start(stage);
      if (--left == 0) return {stage.empty(), scales};
      blocks.go_on(stage, scales);
    }
    pipeline.next_round();
  }
}

/// As mainloop, of sums that are promoted, where each stage is a block of K and strips of columns share their
/// scales. Its warpgroups take no turns: where they did (handed over when a stage had been waited for, when
/// half of the products were there, and when all were), tiles of 128 x 128 took 6 % longer. Beside the loop
/// that waits and reads before each block, these take 3 to 9 % less, and 256 x 128 2 to 5 %.
template <Config config>
QUARRY_DEVICE void ahead_mainloop(FinishedSums<config>& finished, const Pipeline<config>& pipeline,
                                  int k_tiles, int group, const ClusterPlace& place) {
  BlockSums<config> sums = {};
  finished = {};
  hold<config>(sums);
  if (k_tiles == 0) return;
  BlocksAhead<config> blocks(finished, sums, pipeline, group, place);
  const LastBlock<config> last = multiply_blocks(blocks, pipeline, k_tiles);
  blocks.end(last.empty, last.scales);
}

}  // namespace quarry::gemm_sm90
