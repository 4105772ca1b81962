/// What follows from a config inside the kernel: who a thread is, where things lie in shared memory.
#pragma once

#include "arch/sm90.hpp"
#include "gemm_sm90/config.hpp"
#include "gemm_sm90/multiply.cuh"

namespace quarry::gemm_sm90 {

/// The sums of a warpgroup, or of some of its blocks of 64 rows.
template <Config config, int blocks = blocks_m(config)>
struct Sums {
  typename MultiplyOf<config>::template Sums<config.tile.n> block[blocks];
};

/// What the epilogue reads: sums as the matrix instruction leaves them, or scaled ones of f32.
template <Config config, bool are_converted = takes_scales(config) && config.types.accumulator != DType::f32>
struct FinishedSumsOf {
  using Type = Sums<config>;
};
template <Config config>
struct FinishedSumsOf<config, true> {
  struct Type {
    arch::WarpgroupSumsF32<config.tile.n> block[blocks_m(config)];
  };
};
template <Config config>
using FinishedSums = typename FinishedSumsOf<config>::Type;

/// Place of a block in its cluster's tile.
struct ClusterPlace {
  int rank;
  int m;
  int n;
};

template <Config config>
QUARRY_DEVICE ClusterPlace cluster_place() {
  if constexpr (config.cluster.m * config.cluster.n == 1) {
    return {0, 0, 0};
  } else {
    const int rank = arch::cluster_rank();
    return {rank, rank % config.cluster.m, rank / config.cluster.m};
  }
}

/// Blocks, as bits of their ranks, that need the same tile of A: a row of the cluster. Of B: a
/// column.
template <Config config>
QUARRY_DEVICE unsigned sharers_of_a(const ClusterPlace& place) {
  unsigned row = 0;
  QUARRY_UNROLL
  for (int n = 0; n < config.cluster.n; ++n) row |= 1u << n * config.cluster.m;
  return row << place.m;
}
template <Config config>
QUARRY_DEVICE unsigned sharers_of_b(const ClusterPlace& place) {
  constexpr unsigned column = (1u << config.cluster.m) - 1;
  return column << place.n * config.cluster.m;
}

/// Which warpgroup of the block a thread belongs to; the same for the whole warp.
QUARRY_DEVICE int warpgroup_index() { return arch::warp_index() / 4; }

/// Warp of its warpgroup.
QUARRY_DEVICE int warp_of_group() { return arch::thread_index() / 32 % 4; }

}  // namespace quarry::gemm_sm90
