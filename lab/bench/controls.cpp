#include "lab/bench/controls.hpp"

#include <algorithm>

namespace quarry::lab {
namespace {

std::vector<Controls> other_slices(const Controls& chosen) {
  std::vector<Controls> others;
  for (const int step : {-2, -1, 1, 2}) {
    Controls other = chosen;
    other.split_k_slices = *chosen.split_k_slices + step;
    if (*other.split_k_slices >= 2) others.push_back(other);
  }
  return others;
}

std::vector<Controls> other_orders(const Controls& chosen, const Controls& fixed) {
  std::vector<Controls> others;
  for (const Raster raster : {Raster::along_n, Raster::along_m}) {
    if (fixed.raster && raster != *fixed.raster) continue;
    for (const int swizzle : {1, 2, 4, 8}) {
      if (fixed.swizzle && swizzle != *fixed.swizzle) continue;
      Controls other = chosen;
      other.raster = raster;
      other.swizzle = swizzle;
      if (raster != chosen.raster || swizzle != chosen.swizzle) others.push_back(other);
    }
  }
  return others;
}

}  // namespace

std::vector<Controls> other_controls(const Controls& chosen, const Controls& fixed) {
  Controls base = chosen;
  base.multiprocessors = fixed.multiprocessors;
  if (chosen.split_k_slices.value_or(1) == 1) return other_orders(base, fixed);
  return fixed.split_k_slices ? std::vector<Controls>() : other_slices(base);
}

}  // namespace quarry::lab
