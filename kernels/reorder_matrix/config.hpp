/// The compile-time parameters of one reorder_matrix kernel, and what follows from them.
#pragma once

#include "quarry/types.hpp"

namespace quarry::reorder_matrix {

/// One kernel: moves elements of whole bytes, tile by tile, by way of shared memory, so that both matrices
/// are walked along their lines.
struct Config {
  DType type;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Bytes of an element: 1, 2, 4 or 8. Nothing else of the type counts.
constexpr int element_bytes(const Config& c) { return bytes_of(c.type); }

/// Threads of a block, which moves one square tile.
constexpr int threads(const Config&) { return 256; }
inline constexpr int tile_extent = 64;

/// Elements from one row of the tile in shared memory to the next: with the padding of a word or more,
/// walking along columns meets all banks, too.
constexpr int row_elements(const Config& c) {
  return tile_extent + (4 + element_bytes(c) - 1) / element_bytes(c);
}

/// Bytes of dynamic shared memory.
constexpr int shared_memory_bytes(const Config& c) {
  return tile_extent * row_elements(c) * element_bytes(c);
}

constexpr long long tiles_along(int extent) { return extent / tile_extent + (extent % tile_extent != 0); }

/// Blocks of the one-dimensional grid; one that is too large for it is above 2^31 - 1.
constexpr long long grid(int rows, int columns, int batch) {
  constexpr long long limit = 0x7fffffff;
  const long long tiles = tiles_along(rows) * tiles_along(columns);
  return tiles > limit ? tiles : tiles * batch;
}

}  // namespace quarry::reorder_matrix
