#include "operations/conv2d/lab/definition.hpp"

#include <cmath>

#include "lab/problems/matrices.hpp"
#include "operations/common/host/element.hpp"
#include "operations/conv2d/problem.hpp"

namespace quarry::lab::conv2d {
namespace {

Numbers numbers_of(const TensorView& view) {
  Numbers numbers = {.extents = view.extents};
  const Matrices m(view);
  numbers.values.reserve(static_cast<std::size_t>(m.count() * m.rows() * m.columns()));
  host::with_element(m.type(), [&]<class E>(E) {
    for (std::int64_t matrix = 0; matrix < m.count(); ++matrix) {
      for (std::int64_t row = 0; row < m.rows(); ++row) {
        for (std::int64_t column = 0; column < m.columns(); ++column)
          numbers.values.push_back(host::read_element<E>(m.first(matrix), m.index(row, column)));
      }
    }
  });
  return numbers;
}

}  // namespace

void Sum::add(double a, double b) {
  const double product = a * b;
  value += product;
  squares += product * product;
  magnitudes += std::abs(product);
}

std::int64_t terms_of_output(const Conv2dArguments& args) {
  const auto& a = args.a.extents;
  const auto& b = args.b.extents;
  switch (args.direction) {
    case Direction::dgrad: return b[0] / args.groups * b[1] * b[2];
    case Direction::wgrad: return a[0] * a[1] * a[2];
    default: return b[1] * b[2] * b[3];
  }
}

Definition::Definition(const Conv2dArguments& args)
    : args_(args), x_(), w_(), y_(), a_(numbers_of(args.a)), b_(numbers_of(args.b)) {
  const auto roles = detail::conv2d::roles_of(args);
  x_ = roles.activations.extents;
  w_ = roles.filters.extents;
  y_ = roles.output.extents;
}

std::vector<Sum> Definition::line(const Place& place) const {
  std::vector<Sum> sums(static_cast<std::size_t>(args_.out.extents[3]));
  switch (args_.direction) {
    case Direction::dgrad: add_activations(place, sums.data()); break;
    case Direction::wgrad: add_filters(place, sums.data()); break;
    default: add_outputs(place, sums.data());
  }
  return sums;
}

/// Row or column of the image that a tap looks at from a place; it may lie outside.
static std::int64_t looked_at(std::int64_t place, std::int64_t tap, std::int64_t padding, std::int64_t stride,
                              std::int64_t dilation) {
  return place * stride - padding + tap * dilation;
}

std::int64_t Definition::row(std::int64_t p, std::int64_t r) const {
  return looked_at(p, args_.flips ? w_[1] - 1 - r : r, args_.padding.height, args_.stride.height,
                   args_.dilation.height);
}

std::int64_t Definition::column(std::int64_t q, std::int64_t s) const {
  return looked_at(q, args_.flips ? w_[2] - 1 - s : s, args_.padding.width, args_.stride.width,
                   args_.dilation.width);
}

bool Definition::is_inside(std::int64_t row, std::int64_t column) const {
  return row >= 0 && row < x_[1] && column >= 0 && column < x_[2];
}

/// Outputs (n, p, q, ...) of fprop.
void Definition::add_outputs(const Place& at, Sum* sums) const {
  const auto [n, p, q] = at;
  for (std::int64_t r = 0; r < w_[1]; ++r) {
    for (std::int64_t s = 0; s < w_[2]; ++s) {
      const std::int64_t h = row(p, r);
      const std::int64_t w = column(q, s);
      if (!is_inside(h, w)) continue;
      for (std::int64_t k = 0; k < w_[0]; ++k) {
        const double* const pixel = a_.line(n, h, w) + k / filters() * channels();
        const double* const filter = b_.line(k, r, s);
        for (std::int64_t c = 0; c < channels(); ++c) sums[k].add(pixel[c], filter[c]);
      }
    }
  }
}

/// Gradients of activations (n, h, w, ...): what all outputs that they are part of have of them.
void Definition::add_activations(const Place& at, Sum* sums) const {
  const auto [n, h, w] = at;
  const auto add_tap = [&](std::int64_t r, std::int64_t s, const double* outputs) {
    for (std::int64_t k = 0; k < w_[0]; ++k) {
      Sum* const group = sums + k / filters() * channels();
      const double* const filter = b_.line(k, r, s);
      for (std::int64_t c = 0; c < channels(); ++c) group[c].add(outputs[k], filter[c]);
    }
  };
  for (std::int64_t r = 0; r < w_[1]; ++r) {
    for (std::int64_t p = 0; p < y_[1]; ++p) {
      if (row(p, r) != h) continue;
      for (std::int64_t s = 0; s < w_[2]; ++s) {
        for (std::int64_t q = 0; q < y_[2]; ++q) {
          if (column(q, s) == w) add_tap(r, s, a_.line(n, p, q));
        }
      }
    }
  }
}

/// Gradients of filter elements (k, r, s, ...).
void Definition::add_filters(const Place& at, Sum* sums) const {
  const auto [k, r, s] = at;
  const std::int64_t first = k / filters() * channels();
  for (std::int64_t n = 0; n < y_[0]; ++n) {
    for (std::int64_t p = 0; p < y_[1]; ++p) {
      for (std::int64_t q = 0; q < y_[2]; ++q) {
        const std::int64_t h = row(p, r);
        const std::int64_t w = column(q, s);
        if (!is_inside(h, w)) continue;
        const double output = a_.line(n, p, q)[k];
        const double* const pixel = b_.line(n, h, w) + first;
        for (std::int64_t c = 0; c < channels(); ++c) sums[c].add(output, pixel[c]);
      }
    }
  }
}

}  // namespace quarry::lab::conv2d
