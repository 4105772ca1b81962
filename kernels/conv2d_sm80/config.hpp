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
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// The kernel's product: a gemm_sm80 kernel whose operands are gathered.
constexpr gemm_sm80::Config product(const Config& c) {
  return {c.types, convolution_layouts(c.direction), c.tile, c.warps, c.stages, c.alignment, c.math};
}

/// Threads of a block, and bytes of its dynamic shared memory.
constexpr int threads(const Config& c) { return threads(product(c)); }
constexpr int shared_memory_bytes(const Config& c) { return shared_memory_bytes(product(c)); }

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
};
constexpr Gathering gathering(const Config& c) { return {c.direction, c.iterator, c.strides, c.filter}; }

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
