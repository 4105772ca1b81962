/// K tiles that groups of warpgroups share within a block, each taking its turn: where a tile is narrow, a
/// warpgroup alone waits for each of its instructions, and others fill this time. The sums of all groups go
/// to the first one, which finishes the tile. All of them run the same loop: a second copy of it would have
/// to be brought from memory, too.
#pragma once

#include "gemm_sm90/pipeline.cuh"

namespace quarry::gemm_sm90 {

/// The group of a warpgroup that multiplies; 0 of the one that copies.
template <Config config>
QUARRY_DEVICE int k_group() {
  if constexpr (k_groups(config) == 1) {
    return 0;
  } else {
    const int warpgroup = warpgroup_index() - 1;
    return warpgroup < 0 ? 0 : warpgroup / consumers(config);
  }
}

/// K tiles of a group, of so many of all.
template <Config config>
QUARRY_DEVICE int own_k_tiles(int k_tiles) {
  return (k_tiles - k_group<config>() + k_groups(config) - 1) / k_groups(config);
}

/// Goes on from the first K tile of all to the first one of this group.
template <Config config>
QUARRY_DEVICE void advance_to_own(Pipeline<config>& pipeline) {
  QUARRY_UNROLL
  for (int i = 1; i < k_groups(config); ++i) {
    if (i <= k_group<config>()) pipeline.advance();
  }
}

/// Where the stages were: four sums of a thread of a group behind the first.
template <Config config>
QUARRY_DEVICE arch::SharedAddress handed_sums(arch::SharedAddress memory, int group, int quad) {
  constexpr int threads = warpgroup_threads * consumers(config);
  constexpr int quads = config.tile.n / 8;
  const int thread = (arch::thread_index() - warpgroup_threads) % threads;
  return memory + (((group - 1) * quads + quad) * threads + thread) * 16;
}

/// A later group leaves its sums there.
template <Config config>
QUARRY_DEVICE void hand_over(const FinishedSums<config>& sums, arch::SharedAddress memory) {
  QUARRY_UNROLL
  for (int i = 0; i < config.tile.n / 8; ++i) {
    const float* const four = sums.block[0].v + 4 * i;
    arch::shared_store(handed_sums<config>(memory, k_group<config>(), i),
                       arch::Vector<float, 4>{four[0], four[1], four[2], four[3]});
  }
}

/// The first group adds the others' sums to its own, in the order of the groups.
template <Config config>
QUARRY_DEVICE void take_over(FinishedSums<config>& sums, arch::SharedAddress memory) {
  QUARRY_UNROLL
  for (int group = 1; group < k_groups(config); ++group) {
    QUARRY_UNROLL
    for (int i = 0; i < config.tile.n / 8; ++i) {
      const auto more = arch::shared_load<arch::Vector<float, 4>>(handed_sums<config>(memory, group, i));
      QUARRY_UNROLL
      for (int j = 0; j < 4; ++j) sums.block[0].v[4 * i + j] += more.v[j];
    }
  }
}

/// Adds up the sums of all groups: the first one has whole sums then.
template <Config config>
QUARRY_DEVICE void gather_sums(FinishedSums<config>& sums, arch::SharedAddress memory) {
  const auto wait_for_all = [] { arch::named_barrier(2, warpgroup_threads * all_consumers(config)); };
  const bool takes = k_group<config>() == 0;
  wait_for_all();  // nobody multiplies from the stages any more
  if (!takes) hand_over<config>(sums, memory);
  wait_for_all();
  if (takes) take_over<config>(sums, memory);
}

}  // namespace quarry::gemm_sm90
