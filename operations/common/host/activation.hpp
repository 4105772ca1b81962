/// The functions that an epilogue applies last, as the CPU computes them.
#pragma once

#include <cmath>
#include <cstdint>

#include "quarry/types.hpp"

namespace quarry::host {

/// `function` of x, of those that take whole numbers to whole numbers; the others leave it.
inline std::int32_t activate(Activation function, float /*leaky_slope*/, std::int32_t x) {
  return function == Activation::relu && x < 0 ? 0 : x;
}

/// `function` of x, computed in T (float or double). NaN stays NaN.
template <class T>
T activate(Activation function, float leaky_slope, T x) {
  const auto logistic = [](T y) { return 1 / (1 + std::exp(-y)); };
  switch (function) {
    case Activation::identity: return x;
    case Activation::relu: return x < 0 ? 0 : x;
    case Activation::leaky_relu: return x < 0 ? x * static_cast<T>(leaky_slope) : x;
    case Activation::tanh: return std::tanh(x);
    case Activation::sigmoid: return logistic(x);
    case Activation::silu: return x * logistic(x);
    case Activation::hardswish: {
      const T shifted = x + 3;
      return x * (shifted < 0 ? 0 : shifted > 6 ? 6 : shifted) / 6;
    }
    case Activation::gelu: return x / 2 * std::erfc(x * static_cast<T>(-0.70710678118654752));
    case Activation::gelu_tanh:
      return x / 2 *
             (1 +
              std::tanh(static_cast<T>(0.79788456080286536) * (x + static_cast<T>(0.044715) * x * x * x)));
  }
  return x;
}

}  // namespace quarry::host
