/// The functions that an epilogue can apply last, chosen at run time.
///
/// f32 ones are short formulas over approximate exp2 and reciprocal, since every kernel carries them all;
/// each is within a few 1e-7 of the function. f64 ones are as good as f64.
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

/// Replaces each number of a quad by `f` of it.
template <class C, class F>
QUARRY_DEVICE void replace_each(C (&x)[4], F f) {
  QUARRY_UNROLL
  for (int i = 0; i < 4; ++i) x[i] = f(x[i]);
}

/// Applies `function` to a quad, of those that take whole numbers to whole numbers; the others leave it.
QUARRY_DEVICE void activate(Activation function, float /*leaky_slope*/, int (&x)[4]) {
  if (function == Activation::relu) replace_each(x, [](int v) { return v < 0 ? 0 : v; });
}

/// Applies `function` to a quad: chosen once for the four.
template <class C>
QUARRY_DEVICE void activate(Activation function, float leaky_slope, C (&x)[4]) {
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

}  // namespace quarry
