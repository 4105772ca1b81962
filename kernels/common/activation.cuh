/// The functions that an epilogue can apply last, chosen at run time.
///
/// f32 ones are short formulas over approximate exp2 and reciprocal, since every kernel carries them all;
/// each is within a few 1e-7 of the function. f64 ones are as good as f64. Outputs of 16 bits have shorter
/// ones.
#pragma once

#include "arch/arch.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// e to the power x.
QUARRY_DEVICE float exponential(float x) { return arch::exp2_approximate(x * 1.44269504F); }
QUARRY_DEVICE double exponential(double x) { return arch::exp(x); }

/// 1 / x.
QUARRY_DEVICE float reciprocal(float x) { return arch::reciprocal_approximate(x); }
QUARRY_DEVICE double reciprocal(double x) { return 1 / x; }

/// 1 / (1 + e^-x), the sigmoid.
template <class C>
QUARRY_DEVICE C logistic(C x) {
  return reciprocal(1 + exponential(-x));
}

/// The hyperbolic tangent. 1 - 2 / (e^2x + 1) cancels near 0, where an odd polynomial takes its place.
QUARRY_DEVICE float hyperbolic_tangent(float x) {
  const float square = x * x;
  if (square < 0.3025F) {
    float p = arch::fma(1.57394409e-2F, square, -5.23025580e-2F);
    p = arch::fma(p, square, 1.33152977e-1F);
    p = arch::fma(p, square, -3.33327681e-1F);
    return arch::fma(p * square, x, x);
  }
  return 1 - 2 * reciprocal(exponential(2 * x) + 1);
}
QUARRY_DEVICE double hyperbolic_tangent(double x) { return arch::tanh(x); }

/// The cumulative distribution of the standard normal, (1 + erf(x / sqrt 2)) / 2, from erfc(|x| / sqrt 2) /
/// 2: no cancellation in the lower tail. Abramowitz and Stegun 7.1.26, |error of erf| <= 1.5e-7, coefficients
/// halved.
QUARRY_DEVICE float normal_cdf(float x) {
  const float z = (x < 0 ? -x : x) * 0.707106781F;
  const float t = reciprocal(arch::fma(0.3275911F, z, 1));
  float p = arch::fma(0.5307027145F, t, -0.7265760135F);
  p = arch::fma(p, t, 0.7107068705F);
  p = arch::fma(p, t, -0.142248368F);
  p = arch::fma(p, t, 0.127414796F);
  const float tail = p * t * exponential(-z * z);
  return x < 0 ? tail : 1 - tail;
}
QUARRY_DEVICE double normal_cdf(double x) { return 0.5 * arch::erfc(-0.70710678118654752 * x); }

/// Replaces each of these numbers by `f` of it.
template <class C, int count, class F>
QUARRY_DEVICE void replace_each(C (&x)[count], const F& f) {
  QUARRY_UNROLL
  for (int i = 0; i < count; ++i) x[i] = f(x[i]);
}

/// Applies `function`, of those that take whole numbers to whole numbers; the others leave them.
template <int count>
QUARRY_DEVICE void activate(Activation function, float /*leaky_slope*/, int (&x)[count]) {
  if (function == Activation::relu) replace_each(x, [](int v) { return v < 0 ? 0 : v; });
}

/// Applies `function` to these numbers: chosen once for all of them.
template <class C, int count>
QUARRY_DEVICE void activate(Activation function, float leaky_slope, C (&x)[count]) {
  switch (function) {
    case Activation::identity: break;
    case Activation::relu: replace_each(x, [](C v) { return v < 0 ? 0 : v; }); break;
    case Activation::leaky_relu: {
      const auto slope = static_cast<C>(leaky_slope);
      replace_each(x, [slope](C v) { return v < 0 ? v * slope : v; });
      break;
    }
    case Activation::tanh: replace_each(x, [](C v) { return hyperbolic_tangent(v); }); break;
    case Activation::sigmoid: replace_each(x, [](C v) { return logistic(v); }); break;
    case Activation::silu: replace_each(x, [](C v) { return v * logistic(v); }); break;
    case Activation::hardswish:
      replace_each(x, [](C v) {
        const C shifted = v + 3;
        return v * (shifted < 0 ? 0 : shifted > 6 ? 6 : shifted) * static_cast<C>(1.0 / 6);
      });
      break;
    case Activation::gelu: replace_each(x, [](C v) { return v * normal_cdf(v); }); break;
    case Activation::gelu_tanh:  // 0.5 v (1 + tanh(u)) = v logistic(2 u)
      replace_each(x, [](C v) {
        return v * logistic(v * static_cast<C>(1.5957691216057308) * (1 + static_cast<C>(0.044715) * v * v));
      });
      break;
  }
}

/// v (1 + tanh(v slope)) / 2 of each of these numbers, the slope a polynomial of v^2.
/// @tparam together of so many at a time the special functions are on their way: an instruction of these
/// takes as long as twenty others
template <int together, int count>
QUARRY_DEVICE void gate(float (&x)[count], const arch::Vector<float, 2>& slope) {
  QUARRY_UNROLL
  for (int first = 0; first < count; first += together) {
    float t[together];
    QUARRY_UNROLL
    for (int i = 0; i < together && first + i < count; ++i) {
      const float v = x[first + i];
      t[i] = v * arch::fma(slope.v[1], v * v, slope.v[0]);
    }
    QUARRY_UNROLL
    for (int i = 0; i < together && first + i < count; ++i) t[i] = arch::tanh_approximate(t[i]);
    QUARRY_UNROLL
    for (int i = 0; i < together && first + i < count; ++i) {
      const float half = 0.5F * x[first + i];
      x[first + i] = arch::fma(half, t[i], half);
    }
  }
}

/// The slope as a polynomial of v^2: first and second coefficient. That of silu and gelu_tanh is as they are
/// defined; gelu's was fitted to the normal distribution's, to within 1.5e-4.
QUARRY_DEVICE arch::Vector<float, 2> slope_of(Activation function) {
  if (function == Activation::silu) return {0.5F, 0};
  if (function == Activation::gelu_tanh) return {0.7978845608F, 0.7978845608F * 0.044715F};
  return {0.7988F, 0.0353F};
}

/// The same, selected one by one: the compiler makes a table in memory of pairs, which each step would read
/// and wait for. This needs some more registers.
QUARRY_DEVICE arch::Vector<float, 2> selected_slope_of(Activation function) {
  const arch::Vector<float, 2> of_silu = slope_of(Activation::silu);
  const arch::Vector<float, 2> of_tanh = slope_of(Activation::gelu_tanh);
  const arch::Vector<float, 2> of_gelu = slope_of(Activation::gelu);
  const bool is_silu = function == Activation::silu;
  const bool by_tanh = function == Activation::gelu_tanh;
  return {is_silu   ? of_silu.v[0]
          : by_tanh ? of_tanh.v[0]
                    : of_gelu.v[0],
          is_silu   ? of_silu.v[1]
          : by_tanh ? of_tanh.v[1]
                    : of_gelu.v[1]};
}

/// The gate of 2 h in the place of each of these numbers h: one multiplication less. @param slope
/// slope_of_halves
template <int count>
QUARRY_DEVICE void gate_doubles(float (&h)[count], const arch::Vector<float, 2>& slope) {
  QUARRY_UNROLL
  for (int i = 0; i < count; ++i) {
    const float t = arch::tanh_approximate(h[i] * arch::fma(slope.v[1], h[i] * h[i], slope.v[0]));
    h[i] = arch::fma(h[i], t, h[i]);
  }
}

/// The slope as a polynomial of h^2, of 2 h: tanh's argument is h times it.
QUARRY_DEVICE arch::Vector<float, 2> slope_of_halves(Activation function) {
  const arch::Vector<float, 2> slope = selected_slope_of(function);
  return {2 * slope.v[0], 8 * slope.v[1]};
}

/// Whether `function` is a gate: v times something from 0 to 1 that grows with v.
QUARRY_DEVICE bool is_gate(Activation function) {
  return function == Activation::silu || function == Activation::gelu || function == Activation::gelu_tanh;
}

/// activate_roughly of the functions that are no gates.
template <int count>
QUARRY_DEVICE void activate_gateless(Activation function, float leaky_slope, float (&x)[count]) {
  switch (function) {
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
    default: break;
  }
}

/// Applies `function`, with an absolute error of at most 2^-11 |v|: for outputs of 16 bits. One instruction
/// of special functions a value. @tparam hides_latency whether constants are selected, not read from memory,
/// and several values computed together: for warps that hardly others run beside
template <bool hides_latency = false, int count>
QUARRY_DEVICE void activate_roughly(Activation function, float leaky_slope, float (&x)[count]) {
  switch (function) {
    case Activation::silu:
    case Activation::gelu:
    case Activation::gelu_tanh:
      gate<hides_latency ? 4 : 1>(x, hides_latency ? selected_slope_of(function) : slope_of(function));
      break;
    default: activate_gateless(function, leaky_slope, x);
  }
}

}  // namespace quarry
