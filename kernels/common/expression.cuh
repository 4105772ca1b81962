/// The functions of expressions, which generated code calls by these names: of f32 within a few units in the
/// last place, of f64 as good as f64, and of 32-bit integers that wrap.
#pragma once

#include "arch/arch.hpp"
#include "common/activation.cuh"
#include "common/element.cuh"
#include "quarry/types.hpp"

namespace quarry::elementary {

QUARRY_DEVICE bool either(bool a, bool b) { return a || b; }
QUARRY_DEVICE bool both(bool a, bool b) { return a && b; }
QUARRY_DEVICE bool opposite(bool a) { return !a; }

template <class C>
QUARRY_DEVICE bool is_equal(C a, C b) {
  return a == b;
}
template <class C>
QUARRY_DEVICE bool is_unequal(C a, C b) {
  return a != b;
}
template <class C>
QUARRY_DEVICE bool is_less(C a, C b) {
  return a < b;
}
template <class C>
QUARRY_DEVICE bool is_at_most(C a, C b) {
  return a <= b;
}
template <class C>
QUARRY_DEVICE bool is_greater(C a, C b) {
  return a > b;
}
template <class C>
QUARRY_DEVICE bool is_at_least(C a, C b) {
  return a >= b;
}

template <class C>
QUARRY_DEVICE C plus(C a, C b) {
  return added(a, b);
}
template <class C>
QUARRY_DEVICE C times(C a, C b) {
  return multiplied(a, b);
}
template <class C>
QUARRY_DEVICE C negative(C x) {
  return -x;
}
QUARRY_DEVICE int negative(int x) { return multiplied(x, -1); }
template <class C>
QUARRY_DEVICE C minus(C a, C b) {
  return added(a, negative(b));
}
template <class C>
QUARRY_DEVICE C quotient(C a, C b) {
  return a / b;
}

template <class C>
QUARRY_DEVICE C select(bool condition, C a, C b) {
  return condition ? a : b;
}
/// NaN where one is NaN.
template <class C>
QUARRY_DEVICE C min(C a, C b) {
  return a != a || a < b ? a : b;
}
QUARRY_DEVICE float min(float a, float b) { return arch::minimum(a, b); }
template <class C>
QUARRY_DEVICE C max(C a, C b) {
  return a != a || a > b ? a : b;
}
QUARRY_DEVICE float max(float a, float b) { return arch::maximum(a, b); }
template <class C>
QUARRY_DEVICE C clamp(C x, C low, C high) {
  return min(max(x, low), high);
}
template <class C>
QUARRY_DEVICE C abs(C x) {
  return x < 0 ? negative(x) : x;
}

/// x log2(e) is split into what a number holds and the rest: for large x that error would be seen.
QUARRY_DEVICE float exp(float x) {
  const float whole = x * 1.44269504F;
  const float rest = arch::fma(x, 1.92596299e-8F, arch::fma(x, 1.44269504F, -whole));
  const float power = arch::exp2_approximate(whole);
  // At the ends the rest is no number, or too much.
  return power > 0 && power < 0x1p127F ? arch::fma(power, rest * 0.693147181F, power) : power;
}
QUARRY_DEVICE double exp(double x) { return arch::exp(x); }
template <class C>
QUARRY_DEVICE C log(C x) {
  return arch::log(x);
}
template <class C>
QUARRY_DEVICE C sqrt(C x) {
  return arch::square_root(x);
}
template <class C>
QUARRY_DEVICE C rsqrt(C x) {
  return 1 / arch::square_root(x);
}
template <class C>
QUARRY_DEVICE C erf(C x) {
  return arch::erf(x);
}

template <class C>
QUARRY_DEVICE C relu(C x) {
  return x < 0 ? 0 : x;
}
template <class C>
QUARRY_DEVICE C leaky_relu(C x, C slope) {
  return x < 0 ? x * slope : x;
}
template <class C>
QUARRY_DEVICE C leaky_relu(C x) {
  return leaky_relu(x, static_cast<C>(0.01F));
}
template <class C>
QUARRY_DEVICE C tanh(C x) {
  return hyperbolic_tangent(x);
}
template <class C>
QUARRY_DEVICE C sigmoid(C x) {
  return logistic(x);
}
template <class C>
QUARRY_DEVICE C silu(C x) {
  return x * logistic(x);
}
template <class C>
QUARRY_DEVICE C hardswish(C x) {
  return x * clamp(x + 3, static_cast<C>(0), static_cast<C>(6)) / 6;
}
template <class C>
QUARRY_DEVICE C gelu(C x) {
  return x * normal_cdf(x);
}
template <class C>
QUARRY_DEVICE C gelu_tanh(C x) {
  return x * logistic(x * static_cast<C>(1.5957691216057308) * (1 + static_cast<C>(0.044715) * x * x));
}

template <class C>
QUARRY_DEVICE C relu_derivative(C x) {
  return x != x ? x : x > 0 ? 1 : 0;
}
template <class C>
QUARRY_DEVICE C leaky_relu_derivative(C x, C slope) {
  return x != x ? x : x > 0 ? 1 : slope;
}
template <class C>
QUARRY_DEVICE C leaky_relu_derivative(C x) {
  return leaky_relu_derivative(x, static_cast<C>(0.01F));
}
template <class C>
QUARRY_DEVICE C tanh_derivative(C x) {
  const C t = hyperbolic_tangent(x);
  return 1 - t * t;
}
template <class C>
QUARRY_DEVICE C sigmoid_derivative(C x) {
  return logistic(x) * logistic(-x);
}
template <class C>
QUARRY_DEVICE C silu_derivative(C x) {
  return logistic(x) * (1 + x * logistic(-x));
}
template <class C>
QUARRY_DEVICE C hardswish_derivative(C x) {
  return x <= -3 ? 0 : x > 3 ? 1 : (2 * x + 3) / 6;
}
/// Far from 0 the derivatives of both are 0 and 1.
template <class C>
QUARRY_DEVICE C gelu_derivative(C x) {
  if (x < -30 || x > 30) return x < 0 ? 0 : 1;
  return normal_cdf(x) + x * static_cast<C>(0.39894228040143268) * exponential(-x * x / 2);
}
template <class C>
QUARRY_DEVICE C gelu_tanh_derivative(C x) {
  if (x < -30 || x > 30) return x < 0 ? 0 : 1;
  const C cube = static_cast<C>(0.044715) * x * x;
  const C factor = static_cast<C>(1.5957691216057308);
  const C u = factor * x * (1 + cube);
  return logistic(u) * (1 + x * logistic(-u) * factor * (1 + 3 * cube));
}

/// Activations with an absolute error of at most 2^-11 |x|, for outputs of at most 16 bits: an instruction of
/// special functions each, as activate_roughly() has them.
namespace roughly {

/// x (1 + tanh(u)) / 2.
QUARRY_DEVICE float gate(float x, float u) {
  const float half = 0.5F * x;
  return arch::fma(half, arch::tanh_approximate(u), half);
}
QUARRY_DEVICE float tanh(float x) { return arch::tanh_approximate(x); }
QUARRY_DEVICE float sigmoid(float x) { return arch::fma(0.5F, arch::tanh_approximate(0.5F * x), 0.5F); }
QUARRY_DEVICE float silu(float x) { return gate(x, 0.5F * x); }
QUARRY_DEVICE float hardswish(float x) { return x * arch::fma_saturated(x, 1.0F / 6, 0.5F); }
QUARRY_DEVICE float gelu(float x) {
  const arch::Vector<float, 2> slope = slope_of(Activation::gelu);
  return gate(x, x * arch::fma(slope.v[1], x * x, slope.v[0]));
}
QUARRY_DEVICE float gelu_tanh(float x) {
  const arch::Vector<float, 2> slope = slope_of(Activation::gelu_tanh);
  return gate(x, x * arch::fma(slope.v[1], x * x, slope.v[0]));
}

}  // namespace roughly

/// What values of an element type are computed in.
template <DType type>
struct ComputedIn {
  using Type = float;
};
template <>
struct ComputedIn<DType::f64> {
  using Type = double;
};
template <>
struct ComputedIn<DType::s8> {
  using Type = int;
};
template <>
struct ComputedIn<DType::u8> {
  using Type = int;
};
template <>
struct ComputedIn<DType::s32> {
  using Type = int;
};

/// The nearest 32-bit integer, ties to even; what lies outside saturates, NaN becomes 0.
QUARRY_DEVICE int nearest(float x) { return arch::to_s32(x); }
QUARRY_DEVICE int nearest(double x) { return arch::to_s32(x); }
QUARRY_DEVICE int nearest(int x) { return x; }

/// x rounded to a type, with saturation where the type saturates.
template <DType type, class C>
QUARRY_DEVICE typename ComputedIn<type>::Type rounded(C x) {
  if constexpr (is_integer(type)) {
    constexpr int low = static_cast<int>(lowest_of(type));
    constexpr int high = static_cast<int>(info_of(type).largest);
    return clamp(nearest(x), low, high);
  } else if constexpr (bits_of(type) <= 16) {
    return to_compute<float>(to_element<Element<type>>(static_cast<float>(x)));
  } else {
    return static_cast<typename ComputedIn<type>::Type>(x);
  }
}

/// A computed value as an element: rounded to the nearest, integers saturate.
template <DType type, class C>
QUARRY_DEVICE Element<type> stored(C x) {
  if constexpr (is_integer(type)) {
    return static_cast<Element<type>>(rounded<type>(x));
  } else if constexpr (bits_of(type) == 64) {
    return static_cast<double>(x);
  } else {
    return to_element<Element<type>>(static_cast<float>(x));
  }
}

}  // namespace quarry::elementary
