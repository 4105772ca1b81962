/// The compile-time parameters of one grouped_gemm_sm90 kernel.
#pragma once

#include "gemm_sm90/config.hpp"

namespace quarry::grouped_gemm_sm90 {

/// One kernel: gemm_sm90's over the tiles of all groups; any form of groups. The output has any
/// strides; only with contiguous columns is it stored by boxes.
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

/// Threads of a block.
constexpr int threads(const Config& c) { return gemm_sm90::threads(tile_config(c)); }

/// For QUARRY_ENTRY.
constexpr int least_blocks(const Config& c) { return gemm_sm90::least_blocks(tile_config(c)); }

/// Where the barriers of stages lie that hold the beginning or the end of a group along K
/// (beside_copies.cuh).
constexpr int cut_barriers_offset(const gemm_sm90::Config& c) { return gemm_sm90::shared_memory_bytes(c); }

/// Bytes of dynamic shared memory.
constexpr int shared_memory_bytes(const Config& c) {
  return cut_barriers_offset(tile_config(c)) + 8 * c.stages;
}

/// Lines of a block's part of a tile of A that are copied where the group has so many rows in the tile: all,
/// half of them, a quarter or none. @param share the block's among sharers
template <gemm_sm90::OperandBox box>
constexpr int copied_lines(int rows, int share) {
  constexpr int all = box.part_lines();
  const int own = rows - share * all;
  return own <= 0 ? 0 : own <= all / 4 ? all / 4 : own <= all / 2 ? all / 2 : all;
}

/// Each config runs its own device code.
constexpr Config entry(const Config& c) { return c; }

}  // namespace quarry::grouped_gemm_sm90
