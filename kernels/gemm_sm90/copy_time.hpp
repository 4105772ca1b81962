/// How long the copies of a K tile take. Host only.
#pragma once

#include <algorithm>

#include "gemm/host.hpp"

namespace quarry::gemm_sm90 {

/// So many tiles or more that have an operand's lines in common suffer from all of what crowded lines cost.
/// From the choices for 1,039 problems on an H200.
inline constexpr double crowding_tiles = 32;

/// By how much copies of an operand's lines take longer. @param sharing tiles that have these lines in common
inline double slow_lines(const MemoryRates& rates, const L2Lines& lines, Layout layout, int sharing) {
  if (!lines.are_crowded(layout)) return rates.split_lines * lines.split.of(layout);
  return rates.crowded_lines * std::min(1.0, sharing / crowding_tiles);
}

/// Seconds to bring a K tile of a block while all multiprocessors ask.
inline double copy_seconds(const GemmProfile& kernel, const GemmTraffic& traffic, int tiles_m, int tiles_n) {
  if (traffic.has_whole_lines || !kernel.traits.maps_operands) return kernel.memory;
  const MemoryRates& rates = kernel.rates->memory;
  const Layouts& layouts = kernel.traits.layouts;
  return kernel.memory * (1 + kernel.copied_a * slow_lines(rates, traffic.lines_a, layouts.a, tiles_n) +
                          (1 - kernel.copied_a) * slow_lines(rates, traffic.lines_b, layouts.b, tiles_m));
}

}  // namespace quarry::gemm_sm90
