/// The activations of the run-time chain on values that wait in a box.
#pragma once

#include "common/activation.cuh"
#include "gemm_sm90/step.cuh"

namespace quarry::gemm_sm90 {

/// Applies `function` to values that lie in a box of f32, a pair at a time in place, as exactly as f32
/// allows.
template <OutputBox box>
QUARRY_DEVICE void activate_box(Activation function, float leaky_slope, arch::SharedAddress buffer, int first,
                                int columns, int lane) {
  const int offset = box.offset(lane / 4, lane % 4 * 2);
  QUARRY_ROLLED
  for (int column = first; column < first + columns; column += 8) {
    const int upper = box.moved(offset, 0, column);
    const int lower = box.moved(offset, 8, column);
    const arch::Vector<float, 2> first_pair = get_pair<box, float>(buffer, upper);
    const arch::Vector<float, 2> second_pair = get_pair<box, float>(buffer, lower);
    float x[4] = {first_pair.v[0], first_pair.v[1], second_pair.v[0], second_pair.v[1]};
    activate(function, leaky_slope, x);
    put_pair<box, float>(buffer, upper, {x[0], x[1]});
    put_pair<box, float>(buffer, lower, {x[2], x[3]});
  }
}

}  // namespace quarry::gemm_sm90
