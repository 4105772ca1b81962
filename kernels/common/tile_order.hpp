/// The order in which output tiles are walked, for the host: the inverse of what blocks do (work_at of
/// tile_scheduler.cuh).
#pragma once

#include "gemm/params.hpp"

namespace quarry {

/// Position of an output tile among the tiles of all batch entries, where K is in one piece.
constexpr unsigned tile_position(const GemmParams& params, int batch, int tile_m, int tile_n) {
  const bool along_m = params.raster == Raster::along_m;
  const auto rows = static_cast<unsigned>(along_m ? params.tiles_n : params.tiles_m);
  const auto columns = static_cast<unsigned>(along_m ? params.tiles_m : params.tiles_n);
  const auto row = static_cast<unsigned>(along_m ? tile_n : tile_m);
  const auto column = static_cast<unsigned>(along_m ? tile_m : tile_n);
  const unsigned first_column = column >> params.swizzle_log2 << params.swizzle_log2;
  const unsigned columns_left = columns - first_column;
  const unsigned group_width = 1u << params.swizzle_log2;
  const unsigned width = columns_left < group_width ? columns_left : group_width;
  const unsigned in_batch = first_column * rows + row * width + (column - first_column);
  return static_cast<unsigned>(batch) * rows * columns + in_batch;
}

}  // namespace quarry
