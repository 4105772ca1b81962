/// What an epilogue computes, chosen at run time. Plain constexpr C++, shared by host and device.
#pragma once

#include "common/matrix_params.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// Epilogue of one launch:
///   z = alpha * scale * sum + beta * c + bias
///   out = clamp(activation(z) + residual)
struct EpilogueParams {
  double alpha;
  double beta;
  /// Bounds of the output, where it is clamped; whole numbers where s32 is computed in.
  double clamp_low;
  double clamp_high;
  /// Where not null, read instead of the values above: one number of compute_type (f64, s32 or f32).
  const void* alpha_pointer;
  const void* beta_pointer;
  /// Null: no bias. Element i of the bias belongs to row i or to column i of the output.
  const void* bias;
  /// m x n of compute_type, with strides of 0: a value for each row, each column, or for all; data is null:
  /// none, and always where that type is s32.
  MatrixParams scale;
  MatrixParams residual;  ///< m x n of the output's type; data is null: none
  MatrixParams aux;       ///< m x n of the output's type, z is written through it; data is null: nowhere
  BiasAxis bias_axis;
  Activation activation;
  bool clamps;
  /// Promises that out is alpha * sum: nothing of the above is asked for, and beta is 0. A short cut: false
  /// is always right.
  bool only_alpha;
  float leaky_slope;
};

/// The epilogue of the transposed output.
constexpr EpilogueParams transposed(EpilogueParams e) {
  e.scale = transposed(e.scale);
  e.residual = transposed(e.residual);
  e.aux = transposed(e.aux);
  e.bias_axis = e.bias_axis == BiasAxis::row ? BiasAxis::column : BiasAxis::row;
  return e;
}

}  // namespace quarry
