/// How blocks find their tiles without a division: a warp that multiplies, or copies, waits for each of its
/// steps. Plain constexpr C++, shared by host and device.
#pragma once

#include "common/divisor.hpp"
#include "gemm/params.hpp"

namespace quarry {

/// The order of work_at (common/tile_scheduler.cuh), by divisors.
struct TileFinder {
  Divisor tiles;       ///< of one slice of one batch entry
  Divisor slices;      ///< of K
  Divisor group;       ///< tiles of a group of columns that are walked together
  Divisor last_width;  ///< columns of the last group, where it is narrower than the others
  int whole_groups;    ///< groups that have all their columns
  int works;           ///< tiles of all slices of all batch entries
  int k_tiles;         ///< of K
};

/// @pre there are tiles, less than 2^31 in all
constexpr TileFinder tile_finder(const GemmParams& params, int tile_k) {
  const bool along_m = params.raster == Raster::along_m;
  const int rows = along_m ? params.tiles_n : params.tiles_m;
  const int columns = along_m ? params.tiles_m : params.tiles_n;
  const int whole_groups = columns >> params.swizzle_log2;
  const int last_width = columns - (whole_groups << params.swizzle_log2);
  return {divisor_of(rows * columns),
          divisor_of(params.slices),
          divisor_of(rows << params.swizzle_log2),
          divisor_of(last_width > 0 ? last_width : 1),
          whole_groups,
          rows * columns * params.batch * params.slices,
          params.k / tile_k + (params.k % tile_k != 0)};
}

}  // namespace quarry
