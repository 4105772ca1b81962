/// What a family chooses for a problem, whatever it computes. Host only.
#pragma once

#include <cstddef>

#include "quarry/controls.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// The order of tiles as the transposed problem names it.
constexpr Raster exchanged(Raster raster) {
  return raster == Raster::along_n ? Raster::along_m : Raster::along_n;
}

/// Controls as the transposed problem names them: the raster exchanged.
inline Controls exchanged(Controls controls) {
  if (controls.raster) controls.raster = exchanged(*controls.raster);
  return controls;
}

/// Controls with nothing left open.
struct ChosenControls {
  Mode mode = Mode::gemm;
  int split_k_slices = 1;
  int swizzle = 1;
  Raster raster = Raster::along_n;
  /// Most multiprocessors that a persistent kernel uses; 0: as many as there is work for.
  int multiprocessors = 0;
  /// Blocks that one of them holds at once, by the family's estimate; what schedule stream_k goes by.
  int resident = 1;
};

/// What the ranking needs to know of a kernel for a problem on a device.
struct Estimate {
  ChosenControls controls;
  double seconds = 0;
  std::size_t workspace = 0;
};

}  // namespace quarry
