/// The compile-time parameters of one conv2d_simt kernel, and what follows from them.
#pragma once

#include "conv2d/layouts.hpp"
#include "gemm_simt/config.hpp"

namespace quarry::conv2d_simt {

/// One kernel: a convolution as a product by plain fused multiply-add, or sums of four products of bytes,
/// from shared memory; any size, stride, padding, dilation and number of groups.
struct Config {
  Direction direction;
  Types types;
  Tile tile;
  /// Output elements that one thread computes along M and N.
  int thread_m;
  int thread_n;
  /// Of all tensors: row, with neighbouring channels, or column_interleaved32, with channels in groups of 32.
  Layout layout = Layout::row;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// The kernel's product: a gemm_simt kernel whose operands are gathered.
constexpr gemm_simt::Config product(const Config& c) {
  return {c.types, convolution_layouts(c.direction), c.tile, c.thread_m, c.thread_n};
}

/// Threads of a block, and bytes of its dynamic shared memory.
constexpr int threads(const Config& c) { return threads(product(c)); }
constexpr int shared_memory_bytes(const Config& c) { return shared_memory_bytes(product(c)); }

}  // namespace quarry::conv2d_simt
