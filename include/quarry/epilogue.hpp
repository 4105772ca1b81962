/// The standard epilogue: it turns the sums of an operation into outputs. All of it is chosen at run time.
#pragma once

#include <limits>
#include <optional>

#include "quarry/tensor.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// alpha or beta: a host value, or a device pointer to one value that is read when the kernel runs (for host
/// tensors, a host pointer). The value has the compute type: f64 if the accumulator is f64, s32 if
/// accumulator and output are s32, f32 otherwise. In s32, host values must be whole numbers of 32 bits,
/// overflow wraps, and the activation must be identity or relu.
struct Scalar {
  double value = 0;
  const void* pointer = nullptr;

  Scalar() = default;
  Scalar(double host_value) : value(host_value) {}
  /// A value that is read through `p` when the kernel runs; it must stay valid until then.
  static Scalar at(const void* p) {
    Scalar scalar;
    scalar.pointer = p;
    return scalar;
  }
};

/// Bounds of an output. An infinite bound is no bound. For an s32 output of s32 sums a bound must be a whole
/// number or infinite.
struct Clamp {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  friend constexpr bool operator==(const Clamp&, const Clamp&) = default;
};

/// z = alpha * scale * (a x b) + beta * c + bias
/// out = clamp(activation(z) + residual)
struct Epilogue {
  Scalar alpha = 1.0;
  /// With a host value of 0, `c` is never read and may be absent.
  Scalar beta = 0.0;
  Activation activation = Activation::identity;
  /// Slope of leaky_relu for negative values.
  float leaky_slope = 0.01F;
  /// A vector of the output's type: M values when `bias_axis` is row, N when it is column.
  std::optional<TensorView> bias = std::nullopt;
  BiasAxis bias_axis = BiasAxis::column;
  /// A contiguous vector of the compute type (see Scalar), f32 or f64: M values when `scale_axis` is row, N
  /// when it is column, or one value for all. Refused if the compute type is s32.
  std::optional<TensorView> scale = std::nullopt;
  BiasAxis scale_axis = BiasAxis::column;
  /// Same type and extents as `out` (rank 2 beside a batch: one matrix for all entries); may be `out` itself.
  std::optional<TensorView> residual = std::nullopt;
  /// Same type and extents as `out`, without overlap with another operand. The kernel writes z to it,
  /// rounded, through the pointer of the view. Training needs it.
  std::optional<TensorView> aux = std::nullopt;
  Clamp clamp = {};
};

}  // namespace quarry
