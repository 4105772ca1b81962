/// The compile-time parameters of one gemm_list_sm80 kernel.
#pragma once

#include "gemm_sm80/config.hpp"

namespace quarry::gemm_list_sm80 {

/// One kernel: gemm_sm80's over the tiles of all problems, whose pointers and leading dimensions are as
/// aligned as the config says. The output has any strides.
struct Config {
  Types types;
  Layouts layouts;
  Tile tile;
  Warps warps;
  int stages;
  Alignment alignment;
  /// Of A and B: none; vectors, which multiply the sums of a tile; or blocks, which multiply the sums of each
  /// 128 of K.
  ScaleSupport scales = ScaleSupport::none;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// The gemm_sm80 kernel whose pipeline, main loop and epilogue run for each tile.
constexpr gemm_sm80::Config tile_config(const Config& c) {
  return {.types = c.types,
          .layouts = c.layouts,
          .tile = c.tile,
          .warps = c.warps,
          .stages = c.stages,
          .alignment = c.alignment,
          .scales = c.scales};
}

/// Threads of a block.
constexpr int threads(const Config& c) { return gemm_sm80::threads(tile_config(c)); }

/// Bytes of dynamic shared memory.
constexpr int shared_memory_bytes(const Config& c) { return gemm_sm80::shared_memory_bytes(tile_config(c)); }

/// Each config runs its own device code.
constexpr Config entry(const Config& c) { return c; }

}  // namespace quarry::gemm_list_sm80
