/// The compile-time parameters of one reorder_matrix kernel, and what follows from them.
#pragma once

#include "quarry/types.hpp"

namespace quarry::reorder_matrix {

/// One kernel: moves elements of whole bytes. Matrices with the same lines are copied in pieces of 16 bytes;
/// others tile by tile, by way of shared memory, so that both are walked along their lines: in such pieces,
/// too, where memory is aligned to them.
struct Config {
  DType type;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Bytes of an element: 1, 2, 4 or 8. Nothing else of the type counts.
constexpr int element_bytes(const Config& c) { return bytes_of(c.type); }

/// Threads of a block, which moves one square tile at a time, or so many pieces a thread.
constexpr int threads(const Config&) { return 256; }
inline constexpr int tile_extent = 64;
inline constexpr int piece_bytes = 16;
inline constexpr int pieces_of_thread = 4;

/// The extent of a tile that is read and written in pieces: its lines have 128 bytes or more on both sides.
constexpr int turned_extent(const Config& c) { return element_bytes(c) == 1 ? 128 : tile_extent; }

/// Elements from one row of the tile in shared memory to the next: with the padding of a word or more,
/// walking along columns meets all banks, too.
constexpr int row_elements(const Config& c) {
  return tile_extent + (4 + element_bytes(c) - 1) / element_bytes(c);
}

/// Bytes of dynamic shared memory: a tile of either kind.
constexpr int shared_memory_bytes(const Config& c) {
  const int padded = tile_extent * row_elements(c);
  const int turned = turned_extent(c) * turned_extent(c);
  return (padded > turned ? padded : turned) * element_bytes(c);
}

constexpr long long tiles_along(int extent, int tile) { return extent / tile + (extent % tile != 0); }

/// Tiles of all matrices of a batch. @param extent of a tile
constexpr long long tiles(int rows, int columns, int batch, int extent = tile_extent) {
  return tiles_along(rows, extent) * tiles_along(columns, extent) * batch;
}

/// Blocks of the grid, which walk over the tiles: as many as 132 multiprocessors hold at once, at most.
constexpr int grid(int rows, int columns, int batch) {
  constexpr long long most = 132 * 8;
  const long long all = tiles(rows, columns, batch);
  return static_cast<int>(all < most ? all : most);
}

}  // namespace quarry::reorder_matrix
