/// How the staged epilogue uses shared memory: the accumulators of a block leave in passes of a few rows for
/// each warp row, so that a pass fits beside nothing else in the memory that the main loop has finished with.
#pragma once

#include "common/config_parts.hpp"

namespace quarry {

/// Rows of the output tile that one pass stages: 16 (one row of matrix instructions) for each warp along M.
constexpr int staging_rows(Tile, Warps warps) { return 16 * warps.m; }

/// Elements from one staged row to the next. Eight 4-byte words past a multiple of 32 put the four rows that
/// half a warp writes in one go, two words a lane, into different banks.
constexpr int staging_row_elements(int tile_n) { return (tile_n + 31) / 32 * 32 + 8; }

/// The staged row that is read in turn `n`, when rows are read in quads of 4-byte words. A quarter of a warp
/// reads 128 bytes in one go: of tiles with rows of 64 bytes two rows, which lie in different banks when they
/// are two apart, not when they are neighbours.
constexpr int staged_row_read(int tile_n, int n) {
  return tile_n == 16 ? (n & ~3) | (n & 1) << 1 | (n >> 1 & 1) : n;
}

/// Bytes that a pass needs.
constexpr int staging_bytes(int rows, int tile_n, int element_bytes) {
  return rows * staging_row_elements(tile_n) * element_bytes;
}

}  // namespace quarry
