/// The compile-time parameters of a kernel that reorders matrices, what it is launched with, and what
/// follows.
#pragma once

#include "quarry/types.hpp"

namespace quarry {

/// One of the two matrices as it lies in memory: lines of elements, its rows or its columns. Strides are in
/// elements.
struct ReorderSide {
  const void* data;  ///< that of `to` is written through
  long long line_stride;
  /// From one element of a line to the next; of an interleaved matrix from one group of 32 to the next.
  long long element_stride;
  long long batch_stride;
  bool lines_are_rows;
  bool interleaved;
};

/// What the kernel is launched with: copies `from` to `to`, whose elements do not overlap.
struct ReorderParams {
  ReorderSide from;
  ReorderSide to;
  int rows;
  int columns;
  int batch;
};

namespace reorder_matrix {

/// One kernel: moves elements of so many bytes, tile by tile, by way of shared memory, so that both sides are
/// walked along their lines.
struct Config {
  int element_bytes;  ///< 1 or 4
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Threads of a block, which moves one square tile.
constexpr int threads(const Config&) { return 256; }
inline constexpr int tile_extent = 64;

/// Elements from one row of the tile in shared memory to the next: with the padding, walking along columns
/// meets all banks, too.
constexpr int row_elements(const Config& c) { return tile_extent + 4 / c.element_bytes; }

/// Bytes of dynamic shared memory.
constexpr int shared_memory_bytes(const Config& c) { return tile_extent * row_elements(c) * c.element_bytes; }

constexpr long long tiles_along(int extent) { return extent / tile_extent + (extent % tile_extent != 0); }

/// Blocks of the one-dimensional grid; one that is too large for it is above 2^31 - 1.
constexpr long long grid(int rows, int columns, int batch) {
  constexpr long long limit = 0x7fffffff;
  const long long tiles = tiles_along(rows) * tiles_along(columns);
  return tiles > limit ? tiles : tiles * batch;
}

}  // namespace reorder_matrix
}  // namespace quarry
