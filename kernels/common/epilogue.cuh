/// What happens to sums on their way to the output. An epilogue is a type with three steps, which the kernels
/// call for each quad of an output row: `load` what it needs from memory, `apply` it to the sums, `store` the
/// result. Another type with these steps can take the place of the standard one.
#pragma once

#include "arch/arch.hpp"
#include "common/activation.cuh"
#include "common/element.cuh"
#include "common/gemm_params.hpp"
#include "common/matrix_view.cuh"

namespace quarry {

/// What the epilogue computes in (compute_type), from the type of the sums and that of the output.
template <class Sum, class Out>
struct EpilogueCompute {
  using Type = Sum;
};
template <class Out>
struct EpilogueCompute<int, Out> {
  using Type = float;
};
template <>
struct EpilogueCompute<int, int> {
  using Type = int;
};

/// out = activation(alpha * sum + beta * c + bias), everything chosen at run time.
template <class Sum, class Out>
class StandardEpilogue {
 public:
  using Compute = typename EpilogueCompute<Sum, Out>::Type;

  /// What is added to the sums of a quad.
  struct Source {
    Quad<Out> c;
    Quad<Out> bias;
  };

  QUARRY_DEVICE StandardEpilogue(const EpilogueParams& e, const MatrixParams& c, const MatrixParams& out,
                                 int batch)
      : c_(c, batch),
        bias_(e.bias, e.bias_axis == BiasAxis::row ? 1 : 0, e.bias_axis == BiasAxis::row ? 0 : 1),
        out_(out, batch),
        alpha_(value(e.alpha, e.alpha_pointer)),
        beta_(value(e.beta, e.beta_pointer)),
        activation_(e.activation),
        leaky_slope_(e.leaky_slope) {}

  /// Reads c (only if beta is not 0) and the bias (only if there is one) of `count` outputs from (row,
  /// column) on.
  QUARRY_DEVICE Source load(int row, int column, int count) const {
    Source source = {};
    if (beta_ != 0) source.c = c_.load(row, column, count);
    if (bias_.data != nullptr) source.bias = bias_.load(row, column, count);
    return source;
  }

  /// From sums to outputs. With alpha 0 the sums do not count, even where they are NaN.
  QUARRY_DEVICE Quad<Out> apply(const Quad<Sum>& sum, const Source& source) const {
    Quad<Out> result;
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      Compute x = alpha_ == 0 ? 0 : multiplied(alpha_, to_compute<Compute>(sum.v[i]));
      x = multiplied_added(beta_, to_compute<Compute>(source.c.v[i]), x);
      x = added(x, to_compute<Compute>(source.bias.v[i]));
      result.v[i] = to_element<Out>(activate(activation_, leaky_slope_, x));
    }
    return result;
  }

  /// Writes `count` outputs from (row, column) on.
  QUARRY_DEVICE void store(int row, int column, int count, const Quad<Out>& result) const {
    out_.store(row, column, count, result);
  }

 private:
  QUARRY_DEVICE static Compute value(double given, const void* pointer) {
    return pointer == nullptr ? static_cast<Compute>(given) : arch::global_load<Compute>(pointer);
  }

  MatrixView<Out> c_;
  MatrixView<Out> bias_;  // a matrix whose rows, or columns, are all the same
  MatrixView<Out> out_;
  Compute alpha_;
  Compute beta_;
  Activation activation_;
  float leaky_slope_;
};

/// Runs the three steps for one quad.
template <class Epilogue, class Sum>
QUARRY_DEVICE void finish(const Epilogue& epilogue, int row, int column, int count, const Quad<Sum>& sum) {
  epilogue.store(row, column, count, epilogue.apply(sum, epilogue.load(row, column, count)));
}

}  // namespace quarry
