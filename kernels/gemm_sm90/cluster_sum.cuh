/// Slices of K within a cluster: each block leaves its sums in its own shared memory, then each finishes a
/// part of the tile, adding up all slices in their order.
#pragma once

#include "gemm_sm90/line_writer.cuh"
#include "gemm_sm90/work_list.cuh"

namespace quarry::gemm_sm90 {

/// Puts a warpgroup's sums where the stages were. @param first_row row of the tile where its rows begin
template <Config config>
QUARRY_DEVICE void leave_sums(const Sums<config>& sums, arch::SharedAddress memory, int first_row) {
  arch::named_barrier(1,
                      warpgroup_threads * consumers(config));  // nobody multiplies from the stages any more
  const int lane = arch::lane_index();
  QUARRY_UNROLL
  for (int block = 0; block < blocks_m(config); ++block) {
    QUARRY_UNROLL
    for (int i = 0; i < config.tile.n / 4; ++i) {
      const int row = first_row + block * instruction_m + warp_of_group() * 16 + lane / 4 + i % 2 * 8;
      store_pair<config>(memory, exchange_line_bytes(config), row, i / 2 * 8 + lane % 4 * 2,
                         sum_pair(sums.block[block], i / 2, i % 2));
    }
  }
}

/// Finishes this block's share of the tile: every so-many-th line. @param thread among those that multiply
template <Config config, class Writer>
QUARRY_DEVICE void add_up(const Writer& writer, arch::SharedAddress memory, int thread) {
  constexpr int quads = exchange_line_elements(config) / 4;
  constexpr int threads = warpgroup_threads * consumers(config);
  const int blocks = arch::cluster_blocks();
  const int first = arch::cluster_rank() * threads + thread;
  QUARRY_ROLLED
  for (int i = first; i < exchange_lines(config) * quads; i += blocks * threads) {
    const int line = i / quads;
    const int element = i % quads * 4;
    const arch::SharedAddress at = memory + (line * exchange_line_bytes(config) + element * 4);
    Quad<float> parts[most_cluster_slices];  // all on their way before the first is added
    QUARRY_UNROLL
    for (int block = 0; block < most_cluster_slices; ++block) {
      if (block < blocks) parts[block] = arch::peer_load<Quad<float>>(at, block);
    }
    Quad<float> sum = parts[0];
    QUARRY_UNROLL
    for (int block = 1; block < most_cluster_slices; ++block) {
      if (block >= blocks) continue;
      QUARRY_UNROLL
      for (int j = 0; j < 4; ++j) sum.v[j] += parts[block].v[j];
    }
    writer.write(line, element, sum);
  }
}

/// The end of a block of a cluster that shares a tile's K. @param group the warpgroup among those that
/// multiply, negative for the one that copied
template <Config config, class Epilogue>
QUARRY_DEVICE void finish_in_cluster(const GemmParams& params, arch::SharedAddress memory,
                                     const ClusterPlace& place, int group) {
  arch::cluster_arrive();
  arch::cluster_wait();
  if (group >= 0) {
    const TileWork work = WorkList<config>(params, place).current();
    add_up<config>(LineWriter<config, Epilogue>(params, work), memory,
                   group * warpgroup_threads + arch::thread_index() % warpgroup_threads);
  }
  arch::cluster_arrive_relaxed();  // others may still read this block's sums
  arch::cluster_wait();
}

}  // namespace quarry::gemm_sm90
