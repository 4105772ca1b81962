/// How long a K tile of a block takes, from the times of its parts. Host only.
#pragma once

#include <algorithm>

namespace quarry::gemm_sm90 {

/// Math, copies and waiting for them happen at the same time and hide each other except for this share. What
/// device memory needs adds to all that.
inline constexpr double unhidden = 0.15;

/// What a K tile of a block needs: seconds of tensor cores, of copies and of waiting for them, and the share
/// of these that is not hidden.
struct Step {
  double math, copy, latency, unhidden;
};

/// Seconds of a K tile while so many blocks share a multiprocessor: all of them together.
inline double step_seconds(const Step& one, int running) {
  const double math = running * one.math;
  const double memory = running * one.copy;
  const double longest = std::max({math, memory, one.latency});
  return longest + one.unhidden * (math + memory + one.latency - longest);
}

}  // namespace quarry::gemm_sm90
