/// How the tiles of a problem are walked. Plain constexpr C++, shared by host and device.
#pragma once

namespace quarry::gemm_list_sm90 {

/// Tiles are walked in bands of so many rows of the output: down the columns of tiles, so that blocks which
/// run together share columns of B, and not further, so that they share rows of A.
inline constexpr int band_rows = 2048;

/// A row and a column of tiles.
struct TilePlace {
  int m;
  int n;
};

/// Where a tile of a problem lies. The hardware divides in dozens of steps: a problem of one band needs one
/// division, and one of whole bands too, as the compiler knows by what it divides there.
/// @tparam band rows of tiles in a band; the last one may have fewer
/// @pre tile < rows * columns < 2^31
template <unsigned band>
constexpr TilePlace place_in_bands(unsigned tile, unsigned rows, unsigned columns) {
  const unsigned first_row = rows <= band ? 0 : tile / (band * columns) * band;
  const unsigned in_band = tile - first_row * columns;
  const unsigned left = rows - first_row;
  const unsigned column = left < band ? in_band / left : in_band / band;
  const unsigned row = in_band - column * (left < band ? left : band);
  return {static_cast<int>(first_row + row), static_cast<int>(column)};
}

}  // namespace quarry::gemm_list_sm90
