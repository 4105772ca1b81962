/// The epilogue of a launch as the CPU computes it: each step rounded as the device rounds it.
#pragma once

#include <cstdint>

#include "common/epilogue_params.hpp"
#include "common/interleaved.hpp"
#include "operations/common/host/activation.hpp"
#include "operations/common/host/arithmetic.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"

namespace quarry::host {

/// From sums to outputs, one at a time. @tparam C the compute type, @tparam E the output's Element
template <class C, class E>
class HostEpilogue {
 public:
  /// Of a kernel's parameters, which have an epilogue, C and an output, and must live as long as this.
  /// @param out layout of the output, of which only whether it is interleaved counts
  template <class Params>
  HostEpilogue(const Params& params, Layout out) : HostEpilogue(params.epilogue, params.c, params.out, out) {}

  /// Finishes the output at (batch, row, column), and what is kept of it in aux.
  void finish(int batch, int row, int column, C sum) const {
    const EpilogueParams& e = epilogue_;
    const auto at = [=, this](const MatrixParams& m) {
      return distance(rows_grouped_, row, m.row_stride) + distance(columns_grouped_, column, m.column_stride);
    };
    const auto value = [&](const MatrixParams& m) {
      return static_cast<C>(read_element<E>(first_of(m, batch, element_bits<E>), at(m)));
    };
    const auto write = [&](const MatrixParams& m, C x) {
      write_element<E>(const_cast<void*>(first_of(m, batch, element_bits<E>)), at(m), static_cast<double>(x));
    };
    if (e.scale.data != nullptr) sum = multiplied(scale(row, column), sum);
    C x = alpha_ == 0 ? 0 : multiplied(alpha_, sum);
    // It adds zeros where there is nothing to add, so no sum is -0.
    x = multiplied_added(beta_, beta_ != 0 ? value(c_) : C{0}, x);
    x = added(x, bias(row, column));
    if (e.aux.data != nullptr) write(e.aux, x);
    x = activate(e.activation, e.leaky_slope, x);
    if (e.residual.data != nullptr) x = added(x, value(e.residual));
    if (e.clamps) x = x < low_ ? low_ : x > high_ ? high_ : x;
    write(out_, x);
  }

 private:
  HostEpilogue(const EpilogueParams& e, const MatrixParams& c, const MatrixParams& out, Layout layout)
      : epilogue_(e),
        c_(c),
        out_(out),
        rows_grouped_(groups_rows(layout)),
        columns_grouped_(groups_columns(layout)),
        alpha_(scalar(e.alpha, e.alpha_pointer)),
        beta_(scalar(e.beta, e.beta_pointer)),
        low_(static_cast<C>(e.clamp_low)),
        high_(static_cast<C>(e.clamp_high)) {}

  static C scalar(double value, const void* pointer) {
    return pointer == nullptr ? static_cast<C>(value) : *static_cast<const C*>(pointer);
  }

  C scale(int row, int column) const {
    const MatrixParams& m = epilogue_.scale;
    return static_cast<const C*>(m.data)[row * m.row_stride + column * m.column_stride];
  }

  C bias(int row, int column) const {
    const EpilogueParams& e = epilogue_;
    if (e.bias == nullptr) return 0;
    return static_cast<C>(read_element<E>(e.bias, e.bias_axis == BiasAxis::row ? row : column));
  }

  const EpilogueParams& epilogue_;
  const MatrixParams& c_;
  const MatrixParams& out_;
  bool rows_grouped_;
  bool columns_grouped_;
  C alpha_;
  C beta_;
  C low_;
  C high_;
};

}  // namespace quarry::host
