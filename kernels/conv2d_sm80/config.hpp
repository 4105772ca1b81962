/// The compile-time parameters of one conv2d_sm80 kernel, and what follows from them.
#pragma once

#include "conv2d/layouts.hpp"
#include "gemm_sm80/config.hpp"

namespace quarry::conv2d_sm80 {

/// How the places of elements are found.
enum class Iterator : unsigned char {
  analytic,      ///< from the indices of each piece, whatever the problem
  few_channels,  ///< fprop, in single elements: from tap and channel of the one before, as first layers need
};

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
constexpr Bounds bounds_a(Direction direction) {
  switch (direction) {
    case Direction::dgrad: return Bounds::turned;
    case Direction::wgrad: return Bounds::none;
    default: return Bounds::window;
  }
}
constexpr Bounds bounds_b(Direction direction) {
  return direction == Direction::wgrad ? Bounds::window : Bounds::none;
}

}  // namespace quarry::conv2d_sm80
