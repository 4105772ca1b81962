/// The compile-time parameters of one gemm_list_simt kernel.
#pragma once

#include "gemm_simt/config.hpp"

namespace quarry::gemm_list_simt {

/// One kernel: plain fused multiply-add, or sums of four products of bytes; any stride, alignment and sizes.
/// Layouts say along which extents threads walk; the output has any strides, too.
struct Config {
  Types types;
  Layouts layouts;
  Tile tile;
  /// Output elements that one thread computes along M and N.
  int thread_m;
  int thread_n;
  /// Of A and B: none, or any that multiply the sums of each 128 of K.
  ScaleSupport scales = ScaleSupport::none;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// The gemm_simt kernel whose main loop and epilogue run for each tile.
constexpr gemm_simt::Config tile_config(const Config& c) {
  return {c.types, c.layouts, c.tile, c.thread_m, c.thread_n, c.scales};
}

/// Threads of a block.
constexpr int threads(const Config& c) { return gemm_simt::threads(tile_config(c)); }

/// Bytes of dynamic shared memory.
constexpr int shared_memory_bytes(const Config& c) { return gemm_simt::shared_memory_bytes(tile_config(c)); }

/// Each config runs its own device code.
constexpr Config entry(const Config& c) { return c; }

}  // namespace quarry::gemm_list_simt
