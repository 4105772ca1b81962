/// The derivatives of the activations, as the CPU computes them: for training.
#pragma once

#include <cmath>

#include "quarry/types.hpp"

namespace quarry::host {

/// The derivative of `function` at x, computed in T (float or double); at a corner, the left side's.
/// NaN stays NaN.
template <class T>
T derivative(Activation function, float leaky_slope, T x) {
  if (std::isnan(x)) return x;
  const auto logistic = [](T y) { return 1 / (1 + std::exp(-y)); };
  switch (function) {
    case Activation::identity: return 1;
    case Activation::relu: return x > 0 ? 1 : 0;
    case Activation::leaky_relu: return x > 0 ? 1 : static_cast<T>(leaky_slope);
    case Activation::tanh: {
      const T t = std::tanh(x);
      return 1 - t * t;
    }
    case Activation::sigmoid: return logistic(x) * logistic(-x);
    case Activation::silu: return logistic(x) * (1 + x * logistic(-x));
    case Activation::hardswish: return x <= -3 ? 0 : x <= 3 ? (2 * x + 3) / 6 : 1;
    case Activation::gelu: {
      if (x < -30 || x > 30) return x < 0 ? 0 : 1;
      const T density = static_cast<T>(0.39894228040143268) * std::exp(-x * x / 2);
      return std::erfc(x * static_cast<T>(-0.70710678118654752)) / 2 + x * density;
    }
    case Activation::gelu_tanh: {
      if (x < -30 || x > 30) return x < 0 ? 0 : 1;
      // (1 + tanh u) / 2 is the logistic function of 2 u; here u is twice as large.
      const T cube = static_cast<T>(0.044715) * x * x;
      const T factor = static_cast<T>(2 * 0.79788456080286536);
      const T u = factor * x * (1 + cube);
      return logistic(u) * (1 + x * logistic(-u) * factor * (1 + 3 * cube));
    }
  }
  return 1;
}

}  // namespace quarry::host
