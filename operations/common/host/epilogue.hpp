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

/// Where the elements of the output, and of what has its extents, lie: in matrices.
struct MatrixPlaces {
  bool rows_grouped;
  bool columns_grouped;

  /// @param layout of which only whether it is interleaved counts
  MatrixPlaces(Layout layout) : rows_grouped(groups_rows(layout)), columns_grouped(groups_columns(layout)) {}

  /// Elements from the first one of a batch entry's matrix on.
  std::int64_t at(const MatrixParams& m, int row, int column) const {
    return distance(rows_grouped, row, m.row_stride) + distance(columns_grouped, column, m.column_stride);
  }
};

/// From sums to outputs, one at a time. @tparam C the compute type, @tparam E the output's Element
/// @tparam Places MatrixPlaces, or a class with the same function `at`
template <class C, class E, class Places = MatrixPlaces>
class HostEpilogue {
 public:
  /// Of a kernel's parameters, which have an epilogue, C and an output, and must live as long as this.
  template <class Params>
  HostEpilogue(const Params& params, const Places& places)
      : HostEpilogue(params.epilogue, params.c, params.out, places) {}

  /// Finishes the output at (batch, row, column), and what is kept of it in aux.
  void finish(int batch, int row, int column, C sum) const {
    const EpilogueParams& e = epilogue_;
    const auto at = [=, this](const MatrixParams& m) { return places_.at(m, row, column); };
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
  HostEpilogue(const EpilogueParams& e, const MatrixParams& c, const MatrixParams& out, const Places& places)
      : epilogue_(e),
        c_(c),
        out_(out),
        places_(places),
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
  Places places_;
  C alpha_;
  C beta_;
  C low_;
  C high_;
};

}  // namespace quarry::host
