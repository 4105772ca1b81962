/// The activations of the run-time chain on the values of a step: few instructions, as every kernel carries
/// them all.
#pragma once

#include "common/activation.cuh"
#include "gemm_sm90/step.cuh"

namespace quarry::gemm_sm90 {

/// Replaces each value by `f` of it.
template <int count, class F>
QUARRY_DEVICE void replace_each(StepValues<count>& x, const F& f) {
  QUARRY_UNROLL
  for (int i = 0; i < count; ++i) x.v[i] = f(x.v[i]);
}

/// v (1 + tanh(v slope)) / 2.
QUARRY_DEVICE float gated(float v, float slope) {
  const float half = 0.5F * v;
  return arch::fma(half, arch::tanh_approximate(v * slope), half);
}

/// The slope as a polynomial of v^2: first and second coefficient. That of silu and gelu_tanh is as they are
/// defined; gelu's was fitted to the normal distribution's, to within 1.5e-4.
QUARRY_DEVICE arch::Vector<float, 2> slope_of(Activation function) {
  if (function == Activation::silu) return {0.5F, 0};
  if (function == Activation::gelu_tanh) return {0.7978845608F, 0.7978845608F * 0.044715F};
  return {0.7988F, 0.0353F};
}

/// Applies `function`, with an absolute error of at most 2^-11 |v|: for outputs of 16 bits. One instruction
/// of special functions a value.
template <int count>
QUARRY_DEVICE void activate_roughly(Activation function, float leaky_slope, StepValues<count>& x) {
  switch (function) {
    case Activation::identity: break;
    case Activation::relu: replace_each(x, [](float v) { return arch::maximum(v, 0); }); break;
    case Activation::leaky_relu:
      replace_each(x, [leaky_slope](float v) { return v < 0 ? v * leaky_slope : v; });
      break;
    case Activation::hardswish:
      replace_each(x, [](float v) { return v * arch::fma_saturated(v, 1.0F / 6, 0.5F); });
      break;
    case Activation::tanh:
    case Activation::sigmoid: {  // (1 + tanh(v / 2)) / 2
      const float factor = function == Activation::tanh ? 1 : 0.5F;
      replace_each(
          x, [factor](float v) { return arch::fma(factor, arch::tanh_approximate(factor * v), 1 - factor); });
      break;
    }
    case Activation::silu:
    case Activation::gelu:
    case Activation::gelu_tanh: {
      const arch::Vector<float, 2> slope = slope_of(function);
      replace_each(x, [&](float v) { return gated(v, arch::fma(slope.v[1], v * v, slope.v[0])); });
      break;
    }
  }
}

/// The same of values that lie in a box of f32, a pair at a time in place, as exactly as f32 allows.
template <OutputBox box>
QUARRY_DEVICE void activate_box(Activation function, float leaky_slope, arch::SharedAddress buffer, int first,
                                int columns, int lane) {
  const int offset = box.offset(lane / 4, lane % 4 * 2);
  QUARRY_ROLLED
  for (int column = first; column < first + columns; column += 8) {
    const int upper = box.moved(offset, 0, column);
    const int lower = box.moved(offset, 8, column);
    const arch::Vector<float, 2> first_pair = get_pair<box>(buffer, upper);
    const arch::Vector<float, 2> second_pair = get_pair<box>(buffer, lower);
    float x[4] = {first_pair.v[0], first_pair.v[1], second_pair.v[0], second_pair.v[1]};
    activate(function, leaky_slope, x);
    put_pair<box>(buffer, upper, {x[0], x[1]});
    put_pair<box>(buffer, lower, {x[2], x[3]});
  }
}

}  // namespace quarry::gemm_sm90
