/// How the tiles of a group are walked, without a division: a warp waits for each of its steps. Plain
/// constexpr C++, shared by host and device.
#pragma once

#include "common/divisor.hpp"

namespace quarry {

/// Tiles of a group are walked in bands of so many rows: down the columns of tiles, so that blocks which run
/// together share columns of B, which is read once for a band; and not further, so that they share rows of A.
inline constexpr int band_rows = 2048;

/// Most rows of tiles in a band.
inline constexpr int most_band_tiles = 32;

/// The bands of all groups of a launch. The last band of a group may have fewer rows of tiles than the
/// others.
struct Bands {
  Divisor tiles;  ///< of a whole band
  /// (2^32 - 1) / rows, rounded down, of 1 row of tiles, of 2, and so on.
  unsigned reciprocals[most_band_tiles];
};

/// @param tile_rows rows of a tile @param columns of tiles
constexpr Bands bands_of(int tile_rows, int columns) {
  Bands bands = {divisor_of(band_rows / tile_rows * columns), {}};
  for (unsigned i = 0; i < most_band_tiles; ++i) bands.reciprocals[i] = 0xffffffffU / (i + 1);
  return bands;
}

/// A tile of a band of `rows` rows of tiles: its column and row. @pre 1 <= rows <= most_band_tiles, tile >= 0
constexpr Divided place_in_band(const Bands& bands, int tile, int rows) {
  // The product is less than tile / rows by less than 1, so that its whole part may be one too few.
  const auto product =
      static_cast<unsigned long long>(static_cast<unsigned>(tile)) * bands.reciprocals[rows - 1];
  const int column = static_cast<int>(product >> 32);
  const int row = tile - column * rows;
  return row < rows ? Divided{column, row} : Divided{column + 1, row - rows};
}

}  // namespace quarry
