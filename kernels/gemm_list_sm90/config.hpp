/// The compile-time parameters of one gemm_list_sm90 kernel.
#pragma once

#include "gemm_sm90/config.hpp"
#include "gemm_sm90/handed_works.hpp"

namespace quarry::gemm_list_sm90 {

/// One kernel: gemm_sm90's over the tiles of all problems, whose pointers and leading dimensions are as
/// aligned as the config says. The output has any strides; only with contiguous columns is it stored by
/// boxes.
struct Config {
  Types types;
  Layouts layouts;
  Tile tile;
  gemm_sm90::ClusterShape cluster;
  int stages;
  Schedule schedule;
  Alignment alignment;
  /// Of A and B: none, or blocks, which multiply the sums of each 128 of K.
  ScaleSupport scales = ScaleSupport::none;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// The gemm_sm90 kernel whose pipeline, main loop and epilogue run for each tile.
constexpr gemm_sm90::Config tile_config(const Config& c) {
  return {c.types,         c.layouts,           c.tile,      c.cluster,   c.stages, c.schedule,
          CopyEngine::tma, Orientation::direct, c.alignment, Math::exact, c.scales};
}

/// The tile of a cluster of blocks.
constexpr Tile cluster_tile(const gemm_sm90::Config& c) {
  return {c.tile.m * c.cluster.m, c.tile.n * c.cluster.n, c.tile.k};
}

/// Threads of a block.
constexpr int threads(const Config& c) { return gemm_sm90::threads(tile_config(c)); }

/// For QUARRY_ENTRY.
constexpr int least_blocks(const Config& c) { return gemm_sm90::least_blocks(tile_config(c)); }

/// Bytes of dynamic shared memory.
constexpr int shared_memory_bytes(const Config& c) {
  return gemm_sm90::handed_works_offset(tile_config(c)) + gemm_sm90::all_handed_bytes;
}

/// Each config runs its own device code.
constexpr Config entry(const Config& c) { return c; }

}  // namespace quarry::gemm_list_sm90
