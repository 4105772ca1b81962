#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "lab/problems/matrices.hpp"
#include "lab/reference/epilogue.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/conv2d/lab/operation.hpp"
#include "operations/conv2d/problem.hpp"

namespace quarry::lab::conv2d {
namespace {

/// The elements of a tensor as numbers, packed.
struct Numbers {
  Extents extents;
  std::vector<double> values;

  explicit Numbers(const TensorView& view) : extents(view.extents) {
    const Matrices m(view);
    values.reserve(static_cast<std::size_t>(m.count() * m.rows() * m.columns()));
    host::with_element(m.type(), [&]<class E>(E) {
      for (std::int64_t matrix = 0; matrix < m.count(); ++matrix) {
        for (std::int64_t row = 0; row < m.rows(); ++row) {
          for (std::int64_t column = 0; column < m.columns(); ++column)
            values.push_back(host::read_element<E>(m.first(matrix), m.index(row, column)));
        }
      }
    });
  }

  /// The neighbours along the last extent.
  const double* line(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return values.data() + ((i * extents[1] + j) * extents[2] + k) * extents[3];
  }
};

/// A sum of products, and the sum of their squares.
struct Sum {
  double value = 0;
  double squares = 0;
  void add(double a, double b) {
    const double product = a * b;
    value += product;
    squares += product * product;
  }
};

/// The definition, whatever the direction: y(n, p, q, k) += x(n, h, w, c) w(k, r, s, c - first of the group)
/// where h and w belong to place (p, q) and tap (r, s).
class Definition {
 public:
  Definition(const Conv2dArguments& args, const Extents& x, const Extents& w, const Extents& y)
      : args_(args), x_(x), w_(w), y_(y) {}

  /// Row of the image that the tap looks at from a place; it may lie outside.
  std::int64_t row(std::int64_t p, std::int64_t r) const {
    return looked_at(p, r, w_[1], args_.padding.height, args_.stride.height, args_.dilation.height);
  }
  std::int64_t column(std::int64_t q, std::int64_t s) const {
    return looked_at(q, s, w_[2], args_.padding.width, args_.stride.width, args_.dilation.width);
  }
  bool is_inside(std::int64_t row, std::int64_t column) const {
    return row >= 0 && row < x_[1] && column >= 0 && column < x_[2];
  }
  std::int64_t channels() const { return w_[3]; }
  std::int64_t filters() const { return w_[0] / args_.groups; }
  const Extents& x() const { return x_; }
  const Extents& w() const { return w_; }
  const Extents& y() const { return y_; }

 private:
  std::int64_t looked_at(std::int64_t place, std::int64_t tap, std::int64_t taps, std::int64_t padding,
                         std::int64_t stride, std::int64_t dilation) const {
    const std::int64_t turned = args_.flips ? taps - 1 - tap : tap;
    return place * stride - padding + turned * dilation;
  }

  const Conv2dArguments& args_;
  Extents x_, w_, y_;
};

/// The place of a line of outputs.
using Place = std::array<std::int64_t, 3>;

/// Outputs (n, p, q, ...) of fprop.
void add_outputs(const Definition& d, const Numbers& x, const Numbers& w, const Place& at, Sum* sums) {
  const auto [n, p, q] = at;
  for (std::int64_t r = 0; r < d.w()[1]; ++r) {
    for (std::int64_t s = 0; s < d.w()[2]; ++s) {
      const std::int64_t row = d.row(p, r);
      const std::int64_t column = d.column(q, s);
      if (!d.is_inside(row, column)) continue;
      for (std::int64_t k = 0; k < d.w()[0]; ++k) {
        const double* const channels = x.line(n, row, column) + k / d.filters() * d.channels();
        const double* const filter = w.line(k, r, s);
        for (std::int64_t c = 0; c < d.channels(); ++c) sums[k].add(channels[c], filter[c]);
      }
    }
  }
}

/// Gradients of activations (n, h, w, ...): what all outputs that they are part of have of them.
void add_activations(const Definition& d, const Numbers& y, const Numbers& w, const Place& at, Sum* sums) {
  const auto [n, h, column] = at;
  const auto add_tap = [&](std::int64_t r, std::int64_t s, const double* outputs) {
    for (std::int64_t k = 0; k < d.w()[0]; ++k) {
      Sum* const group = sums + k / d.filters() * d.channels();
      const double* const filter = w.line(k, r, s);
      for (std::int64_t c = 0; c < d.channels(); ++c) group[c].add(outputs[k], filter[c]);
    }
  };
  for (std::int64_t r = 0; r < d.w()[1]; ++r) {
    for (std::int64_t p = 0; p < d.y()[1]; ++p) {
      if (d.row(p, r) != h) continue;
      for (std::int64_t s = 0; s < d.w()[2]; ++s) {
        for (std::int64_t q = 0; q < d.y()[2]; ++q) {
          if (d.column(q, s) == column) add_tap(r, s, y.line(n, p, q));
        }
      }
    }
  }
}

/// Gradients of filter elements (k, r, s, ...).
void add_filters(const Definition& d, const Numbers& y, const Numbers& x, const Place& at, Sum* sums) {
  const auto [k, r, s] = at;
  const std::int64_t first = k / d.filters() * d.channels();
  for (std::int64_t n = 0; n < d.y()[0]; ++n) {
    for (std::int64_t p = 0; p < d.y()[1]; ++p) {
      for (std::int64_t q = 0; q < d.y()[2]; ++q) {
        const std::int64_t row = d.row(p, r);
        const std::int64_t column = d.column(q, s);
        if (!d.is_inside(row, column)) continue;
        const double output = y.line(n, p, q)[k];
        const double* const channels = x.line(n, row, column) + first;
        for (std::int64_t c = 0; c < d.channels(); ++c) sums[c].add(output, channels[c]);
      }
    }
  }
}

double products_of_output(const Conv2dArguments& args) {
  const auto& a = args.a.extents;
  const auto& b = args.b.extents;
  const auto product = [](std::int64_t x, std::int64_t y, std::int64_t z) {
    return static_cast<double>(x) * static_cast<double>(y) * static_cast<double>(z);
  };
  switch (args.direction) {
    case Direction::dgrad: return product(b[0] / args.groups, b[1], b[2]);
    case Direction::wgrad: return product(a[0], a[1], a[2]);
    default: return product(b[1], b[2], b[3]);
  }
}

}  // namespace

Reference Lab::reference(const Conv2dArguments& args, const ReferenceOptions& options) {
  Reference reference;
  const DType sums = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  EpilogueReference epilogue(args.out, args.c, args.epilogue, sums, products_of_output(args), options,
                             reference);
  if (epilogue.is_empty()) return reference;
  const bool multiplies = args.epilogue.alpha.pointer != nullptr || args.epilogue.alpha.value != 0;
  const auto roles = detail::conv2d::roles_of(args);
  const Definition definition(args, roles.activations.extents, roles.filters.extents, roles.output.extents);
  const TensorView none = TensorView::strided(nullptr, DType::f32, Extents{}, Extents{});
  const Numbers a(multiplies ? args.a : none);
  const Numbers b(multiplies ? args.b : none);
  const auto add_line = args.direction == Direction::fprop   ? add_outputs
                        : args.direction == Direction::dgrad ? add_activations
                                                             : add_filters;
  const std::int64_t inner = args.out.extents[1];
  std::vector<double> squares(static_cast<std::size_t>(epilogue.batch()));
  const int threads = options.threads > 0 ? options.threads : host::default_threads();
  host::parallel_for(epilogue.batch(), threads, [&](int, std::int64_t entry) {
    for (std::size_t i = 0; multiplies && i < epilogue.rows().size(); ++i) {
      std::vector<Sum> sums(static_cast<std::size_t>(epilogue.columns()));
      add_line(definition, a, b, {entry / inner, entry % inner, epilogue.rows()[i]}, sums.data());
      for (std::size_t column = 0; column < sums.size(); ++column) {
        *epilogue.sums(entry, i, static_cast<std::int64_t>(column)) = sums[column].value;
        squares[static_cast<std::size_t>(entry)] += sums[column].squares;
        if (double* const own = epilogue.squares(entry, i, static_cast<std::int64_t>(column)))
          *own = sums[column].squares;
      }
    }
    epilogue.finish(entry, 0, static_cast<int>(epilogue.columns()));
  });
  double sum = 0;
  for (const double each : squares) sum += each;
  epilogue.set_scale(std::sqrt(sum));
  return reference;
}

}  // namespace quarry::lab::conv2d
