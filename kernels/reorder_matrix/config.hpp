/// The compile-time parameters of one reorder_matrix kernel, and what follows from them.
#pragma once

#include "quarry/types.hpp"

namespace quarry::reorder_matrix {

/// One kernel: moves elements of whole bytes, in pieces of 16 bytes where memory allows it. Matrices with the
/// same lines are copied piece by piece; others tile by tile, by way of shared memory, so that both are
/// walked along their lines. Memory may have any alignment: pieces are read in words, and written element by
/// element.
struct Config {
  DType type;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Bytes of an element: 1, 2, 4 or 8. Nothing else of the type counts.
constexpr int element_bytes(const Config& c) { return bytes_of(c.type); }

/// Threads of a block, which moves one square tile at a time, or so many pieces a thread.
constexpr int threads(const Config&) { return 256; }
inline constexpr int piece_bytes = 16;
inline constexpr int pieces_of_thread = 4;

/// The extent of a tile: its lines have 128 bytes or more on both sides.
constexpr int tile_extent(const Config& c) { return element_bytes(c) == 1 ? 128 : 64; }

/// Bytes of dynamic shared memory: a tile.
constexpr int shared_memory_bytes(const Config& c) {
  return tile_extent(c) * tile_extent(c) * element_bytes(c);
}

constexpr long long tiles_along(int extent, int tile) { return extent / tile + (extent % tile != 0); }

/// Tiles of all matrices of a batch. @param extent of a tile
constexpr long long tiles(int rows, int columns, int batch, int extent) {
  return tiles_along(rows, extent) * tiles_along(columns, extent) * batch;
}

/// Blocks of the grid, which walk over tiles or pieces: one for 64x64 elements, and as many as 132
/// multiprocessors hold at once, at most.
constexpr int grid(int rows, int columns, int batch) {
  constexpr long long most = 132 * 8;
  const long long all = tiles(rows, columns, batch, 64);
  return static_cast<int>(all < most ? all : most);
}

}  // namespace quarry::reorder_matrix
