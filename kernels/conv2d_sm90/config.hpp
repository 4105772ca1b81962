/// The compile-time parameters of one conv2d_sm90 kernel, and what follows from them.
#pragma once

#include "conv2d/layouts.hpp"
#include "gemm_sm90/config.hpp"

namespace quarry::conv2d_sm90 {

/// One kernel: a convolution as a product by gemm_sm90, whose copy engine walks over pixels of images.
struct Config {
  Direction direction;
  Types types;
  Tile tile;
  gemm_sm90::ClusterShape cluster;
  int stages;
  Schedule schedule;
  /// Of dgrad: unity or strided, in phases (conv2d/phases.hpp). Other directions walk with any stride.
  WindowStrides strides = WindowStrides::unity;
  /// Of all tensors: row, with neighbouring channels, or column_interleaved32, with channels in groups of 32.
  /// The latter are reordered for the kernel of the former (conv2d_sm90/reordered.hpp).
  Layout layout = Layout::row;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Whether it computes a dgrad in phases.
constexpr bool is_phased(const Config& c) {
  return c.direction == Direction::dgrad && c.strides == WindowStrides::strided;
}

/// The kernel's product: a gemm_sm90 kernel whose operands are tensors.
constexpr gemm_sm90::Config product(const Config& c) {
  return {c.types,
          convolution_layouts(c.direction),
          c.tile,
          c.cluster,
          c.stages,
          c.schedule,
          CopyEngine::tma,
          Orientation::direct,
          {16 / bytes_of(c.types.a), 16 / bytes_of(c.types.b)}};
}

/// Channels of a line that the copy engine brings in wgrad, all of one tap. @param tile_n of a block
constexpr int line_channels(int tile_n) { return tile_n % 64 == 0 ? 64 : tile_n % 32 == 0 ? 32 : 16; }

/// Threads of a block, blocks that a multiprocessor must hold, and bytes of a block's dynamic shared memory.
constexpr int threads(const Config& c) { return threads(product(c)); }
constexpr int least_blocks(const Config& c) { return least_blocks(product(c)); }
constexpr int shared_memory_bytes(const Config& c) { return shared_memory_bytes(product(c)); }

}  // namespace quarry::conv2d_sm90
