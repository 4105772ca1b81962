/// dgrad with strides, in phases. Plain constexpr C++, shared by host and device.
///
/// A position h of the image, of rest f = (h + padding) mod stride, has a part in the outputs of those taps t
/// alone where t dilation = f mod stride: with g = gcd(stride, dilation) these are every (stride / g)th from
/// some first tap on, or none. So the positions of one rest along each axis, a phase, are a dgrad of their
/// own, without strides, over their taps of the filter:
///
///     h       = first + i stride             first: the position that has this rest
///     t       = first_tap + j (stride / g)
///     output  = (h + padding - t dilation) / stride = padding' + i - j (dilation / g)
///
/// with padding' = (first + padding - first_tap dilation) / stride, which may be negative.
#pragma once

#include "conv2d/params.hpp"

namespace quarry {

/// Phases along an axis: the greatest stride.
inline constexpr int most_phases = 8;

/// One phase along an axis.
struct PhaseAxis {
  int first;
  int places;  ///< positions of the image; none is possible
  int padding;
  int first_tap;
  int taps;  ///< none is possible
  Divisor by_places;
  Divisor by_taps;
};

/// The phases of an axis. Those with more taps come first.
struct PhasesAlong {
  PhaseAxis at[most_phases];
  int stride;
  int tap_step;  ///< negative where filters are turned
  int dilation;
};

/// All phases of a launch.
struct Phases {
  PhasesAlong rows;
  PhasesAlong columns;
  int images;
  int groups;
};

/// Parameters of kernels that compute a dgrad in phases. GemmParams describes the product that the grid
/// covers: as many rows and as long a K as any phase has, a batch entry for each group of each phase, the
/// groups of a phase behind one another. `windows` describes the whole dgrad.
struct PhasedConv2dParams : Conv2dParams {
  Phases phases;
};

constexpr int gcd_of(int a, int b) {
  while (b != 0) {
    const int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// How many there are from `first` below `end`, one every `step`.
constexpr int steps_to(int first, int end, int step) {
  return first < end ? (end - first - 1) / step + 1 : 0;
}

/// Phase number `number` of an axis, of those that have taps the first ones. @pre the stride is at most
/// most_phases
/// @param taps_count taps of the axis; 0 where nothing is summed
constexpr PhaseAxis phase_along(const WindowAxis& axis, int image, int taps_count, bool flips, int number) {
  const int stride = axis.stride.size;
  const int common = gcd_of(stride, axis.dilation);
  const int with_taps = stride / common;
  const int tap = number % with_taps;
  const int off = number / with_taps;  // 0: its rest is a tap's
  const int rest = (tap * (axis.dilation % stride) + off) % stride;
  const int first = (rest - axis.padding % stride + stride) % stride;
  const int taps = off == 0 ? steps_to(tap, taps_count, with_taps) : 0;
  const int places = steps_to(first, image, stride);
  PhaseAxis phase = {.first = first,
                     .places = places,
                     .padding = 0,
                     .first_tap = 0,
                     .taps = taps,
                     .by_places = divisor_of(places > 0 ? places : 1),
                     .by_taps = divisor_of(taps > 0 ? taps : 1)};
  if (taps == 0) return phase;
  phase.padding = (first + axis.padding - tap * axis.dilation) / stride;
  phase.first_tap = flips ? axis.taps.size - 1 - tap : tap;
  return phase;
}

/// The phases of an axis of an image. @param taps_count see phase_along
constexpr PhasesAlong phases_along(const WindowAxis& axis, int image, int taps_count, bool flips) {
  const int stride = axis.stride.size;
  const int common = gcd_of(stride, axis.dilation);
  PhasesAlong phases = {};
  phases.stride = stride;
  phases.tap_step = (flips ? -1 : 1) * (stride / common);
  phases.dilation = axis.dilation / common;
  for (int i = 0; i < stride; ++i) phases.at[i] = phase_along(axis, image, taps_count, flips, i);
  return phases;
}

}  // namespace quarry
