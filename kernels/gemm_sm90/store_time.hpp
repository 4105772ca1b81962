/// How long a tile takes out of the registers. Host only.
#pragma once

#include <algorithm>

#include "gemm/host.hpp"

namespace quarry::gemm_sm90 {

/// How many times longer than otherwise a tile is taken out of the registers whose output has lines of one
/// element: no tensor map can write them. From 1x4120x256 in tf32 on an H200 (14 kernels).
inline constexpr double single_elements = 24;

/// By how much a tile takes less of epilogue_byte whose elements all lie outside of the output. From the
/// choices for 1,139 problems on an H200.
inline constexpr double left_out = 0.5;

/// How much of epilogue_byte a tile takes: less where the output is smaller than the tile.
inline double stored_share(const GemmProfile& kernel, const GemmProblem& problem) {
  const Tile& tile = kernel.traits.tile;
  if (problem.m >= tile.m && problem.n >= tile.n) return 1;
  const double inside = std::min(1.0, problem.m * (1.0 / tile.m)) * std::min(1.0, problem.n * (1.0 / tile.n));
  return 1 - left_out * (1 - inside);
}

/// Seconds that the epilogue of a tile needs beside storing its sums.
inline double beside(const GemmProfile& kernel, const GemmTraffic& traffic) {
  if (traffic.only_adds) return traffic.adds_bias_too ? kernel.added_biased_tile : kernel.added_tile;
  return (traffic.has_activation ? kernel.activation_tile : 0) +
         (traffic.is_general ? kernel.general_tile : 0);
}

/// Whether lines of the output have one element in the kernel's layout.
inline bool has_single_elements(const GemmProfile& kernel, const GemmProblem& problem) {
  return kernel.traits.layouts.out == Layout::row ? problem.n == 1 && problem.m > 1
                                                  : problem.m == 1 && problem.n > 1;
}

/// Whether lanes store, as stores_boxes has it (tensor_maps.cpp).
inline bool stores_by_lanes(const GemmProfile& kernel, const GemmProblem& problem) {
  const Layout layout = kernel.traits.layouts.out;
  const int chunk = 16 / bytes_of(problem.types.out);
  const int line = layout == Layout::row ? problem.n : problem.m;
  return line % chunk != 0 || problem.out.alignment[static_cast<int>(layout)] < chunk;
}

/// Seconds that a tile takes longer as lanes store it.
inline double lanes_seconds(const GemmProfile& kernel, const GemmProblem& problem) {
  if (has_single_elements(kernel, problem)) return kernel.epilogue_tile * (single_elements - 1);
  return stores_by_lanes(kernel, problem) ? kernel.lanes_tile : 0;
}

/// Seconds of a tile. @param by_lanes of these @param drain of a matrix that is read or written beside
inline double store_seconds(const GemmProfile& kernel, const GemmTraffic& traffic, double by_lanes,
                            double drain) {
  const double plain = kernel.epilogue_tile + by_lanes;
  if (traffic.is_bare) return plain;
  return plain + beside(kernel, traffic) + (traffic.has_matrices ? drain : 0);
}

}  // namespace quarry::gemm_sm90
