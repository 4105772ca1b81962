/// The compile-time parameters of one conv2d_sm80 kernel, and what follows from them.
#pragma once

#include "conv2d/layouts.hpp"
#include "gemm_sm80/config.hpp"

namespace quarry::conv2d_sm80 {

using Iterator = WindowIterator;
using Strides = WindowStrides;
using Filter = WindowFilter;

/// One kernel: a convolution as a product by gemm_sm80, whose copies gather their pieces from tensors.
struct Config {
  Direction direction;
  Types types;
  Tile tile;
  Warps warps;
  int stages;
  Iterator iterator;
  /// Of pointers, strides and the channels of a group, in elements.
  Alignment alignment;
  Math math = Math::exact;
  Strides strides = Strides::any;
  Filter filter = Filter::any;
  /// Of all tensors: row, with neighbouring channels, or column_interleaved32, with channels in groups of 32.
  Layout layout = Layout::row;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Whether K tiles are tiles of outputs, with a patch each (window_gradient.cuh).
constexpr bool brings_gradients(const Config& c) {
  return c.iterator == Iterator::window && c.direction == Direction::wgrad;
}

/// The kernel's product: a gemm_sm80 kernel whose operands are gathered. With Iterator::window it has no
/// pipeline: the least number of stages stands for that.
constexpr gemm_sm80::Config product(const Config& c) {
  const int stages = c.iterator == Iterator::window ? 2 : c.stages;
  return {c.types, convolution_layouts(c.direction), c.tile, c.warps, stages, c.alignment, c.math};
}

constexpr int threads(const Config& c) { return threads(product(c)); }

/// Where things lie in shared memory with Iterator::window, in bytes from its start: the filters of a tile's
/// columns, where their K lies in the patch, the patch, which the epilogue uses later. K has as many elements
/// as all stages together.
struct WindowMemory {
  int k;
  int filter_line;  ///< of a column: half a chunk more than a multiple of 32 bytes, as matrix loads want
  int places;
  int patch;
  int patch_bytes;
};

/// The largest patch that kernels have room for, in bytes. @param k of their filters, at most
constexpr int most_patch(int k) { return (k <= 256 ? 18 : 36) * 1024; }

constexpr WindowMemory window_memory(const Config& c) {
  const int k = c.stages * c.tile.k;
  const int line = (k + 8) * bytes_of(c.types.b);
  const int places = c.tile.n * line;
  const int patch = most_patch(k);
  const gemm_sm80::Config code = product(c);
  const int staging = staging_bytes(staging_rows(c.tile, c.warps), c.tile.n, compute_bytes(code));
  return {k, line, places, places + k / 2 * 4, patch > staging ? patch : staging};
}

/// The same of wgrad: the gradients of a tile of outputs, where their windows lie (PairTable), the patch. The
/// epilogue uses all of it later.
struct GradientMemory {
  int table;
  int patch;
  int bytes;
};

/// The largest patch of wgrad's kernels, in bytes.
inline constexpr int most_gradient_patch = 18 * 1024;

constexpr GradientMemory gradient_memory(const Config& c) {
  const gemm_sm80::Config code = product(c);
  const int table = tile_a(code).bytes();
  const int patch = table + c.tile.k * 6;
  const int bytes = patch + most_gradient_patch;
  const int staging = staging_bytes(staging_rows(c.tile, c.warps), c.tile.n, compute_bytes(code));
  return {table, patch, bytes > staging ? bytes : staging};
}

/// Bytes of a block's dynamic shared memory.
constexpr int shared_memory_bytes(const Config& c) {
  if (c.iterator != Iterator::window) return shared_memory_bytes(product(c));
  if (brings_gradients(c)) return gradient_memory(c).bytes;
  const WindowMemory memory = window_memory(c);
  return memory.patch + memory.patch_bytes;
}

/// Blocks that a multiprocessor must hold at once; 0: as many as the compiler makes room for. With
/// Iterator::window as many as have their memory on 9.0: while some wait for their patches, others multiply.
constexpr int least_blocks(const Config& c) {
  if (c.iterator != Iterator::window) return 0;
  const int by_memory = 227 * 1024 / (shared_memory_bytes(c) + 1024);
  const int by_registers = 512 / threads(c);  // of 128 registers each
  return by_memory < by_registers ? by_memory : by_registers;
}

/// How the place of an element of A or B follows from its two indices.
enum class Bounds : unsigned char {
  none,    ///< their offsets add up
  window,  ///< likewise, where their rows and columns add up to a pixel of the image
  turned,  ///< rows and columns of windows are divided by the stride
};

/// What of a config decides how operands are gathered.
struct Gathering {
  Direction direction;
  Iterator iterator;
  Strides strides;
  Filter filter;
  bool interleaved;
};
constexpr Gathering gathering(const Config& c) {
  return {c.direction, c.iterator, c.strides, c.filter, is_interleaved(c.layout)};
}

constexpr Bounds bounds_a(const Gathering& g) {
  if (g.direction == Direction::wgrad || g.filter == Filter::one) return Bounds::none;
  return g.direction == Direction::dgrad && g.strides == Strides::any ? Bounds::turned : Bounds::window;
}
constexpr Bounds bounds_b(const Gathering& g) {
  return g.direction == Direction::wgrad ? Bounds::window : Bounds::none;
}

/// How tap and channel of an index along K are found.
enum class Walk : unsigned char {
  by_index,  ///< by division
  by_tile,   ///< from the previous tile's, whose tap they share
  by_piece,  ///< a piece is a tap
  one_tap,   ///< there is one
};
constexpr Walk walk(const Gathering& g) {
  if (g.filter == Filter::one) return Walk::one_tap;
  switch (g.iterator) {
    case Iterator::optimized: return Walk::by_tile;
    case Iterator::fixed_channels: return Walk::by_piece;
    default: return Walk::by_index;
  }
}

}  // namespace quarry::conv2d_sm80
