/// Slices of K within a cluster: each block leaves its sums in its own shared memory, then each finishes a
/// part of the tile, adding up all slices in their order.
#pragma once

#include "gemm_sm90/step_sums.cuh"

namespace quarry::gemm_sm90 {

/// Where the stages were, a thread's sums lie as they follow each other, four at a time, beside the sums of
/// the other threads. @param quad of four sums among the sums of the thread
template <Config config>
QUARRY_DEVICE arch::SharedAddress left_sums(arch::SharedAddress memory, int quad) {
  constexpr int threads = warpgroup_threads * consumers(config);
  return memory + (quad * threads + arch::thread_index() - warpgroup_threads) * 16;
}

/// Puts a thread's sums there.
template <Config config>
QUARRY_DEVICE void leave_sums(const FinishedSums<config>& sums, arch::SharedAddress memory) {
  constexpr int groups = config.tile.n / 8;
  arch::named_barrier(1,
                      warpgroup_threads * consumers(config));  // nobody multiplies from the stages any more
  QUARRY_UNROLL
  for (int i = 0; i < blocks_m(config) * groups; ++i) {
    const arch::Vector<SumType<config>, 2> upper = sum_pair(sums.block[i / groups], i % groups, 0);
    const arch::Vector<SumType<config>, 2> lower = sum_pair(sums.block[i / groups], i % groups, 1);
    arch::shared_store(left_sums<config>(memory, i),
                       arch::Vector<SumType<config>, 4>{upper.v[0], upper.v[1], lower.v[0], lower.v[1]});
  }
}

/// x + factor * sums of a step, as add_step of sums that all blocks of the cluster have left. Only one block
/// may ask for a step: it keeps what has been added up in the place of its own.
template <Config config, int count, class Value>
QUARRY_DEVICE void add_cluster_step(StepValues<count, Value>& x, Value factor, arch::SharedAddress memory,
                                    int step) {
  using Quad = arch::Vector<SumType<config>, 4>;
  constexpr int quads = count / 4;
  const int blocks = arch::cluster_blocks();
  QUARRY_ROLLED
  for (int i = 0; i < quads; ++i) {
    const arch::SharedAddress at = left_sums<config>(memory, step * quads + i);
    Quad parts[most_cluster_slices];  // all on their way before the first is added
    QUARRY_UNROLL
    for (int block = 0; block < most_cluster_slices; ++block) {
      if (block < blocks)
        parts[block] = __builtin_bit_cast(Quad, arch::peer_load<arch::Vector<float, 4>>(at, block));
    }
    Quad sum = parts[0];
    QUARRY_UNROLL
    for (int block = 1; block < most_cluster_slices; ++block) {
      if (block >= blocks) continue;
      QUARRY_UNROLL
      for (int j = 0; j < 4; ++j) sum.v[j] = added(sum.v[j], parts[block].v[j]);
    }
    arch::shared_store(at, sum);
  }
  QUARRY_UNROLL
  for (int i = 0; i < quads; ++i) {
    const auto sum = arch::shared_load<Quad>(left_sums<config>(memory, step * quads + i));
    QUARRY_UNROLL
    for (int j = 0; j < 4; ++j)
      x.v[4 * i + j] = multiplied_added(factor, static_cast<Value>(sum.v[j]), x.v[4 * i + j]);
  }
}

}  // namespace quarry::gemm_sm90
