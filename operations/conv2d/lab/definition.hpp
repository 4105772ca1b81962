/// The sums of a convolution by its definition, in float64.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "operations/conv2d/lab/operation.hpp"
#include "quarry/conv2d.hpp"

namespace quarry::lab::conv2d {

/// A sum of products, the sum of their squares, and of their magnitudes.
struct Sum {
  double value = 0;
  double squares = 0;
  double magnitudes = 0;

  void add(double a, double b);
};

/// The place of a line of outputs: all extents but the last.
using Place = std::array<std::int64_t, 3>;

/// The elements of a tensor as numbers, packed.
struct Numbers {
  Extents extents = {};
  std::vector<double> values = {};

  /// The neighbours along the last extent.
  const double* line(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return values.data() + ((i * extents[1] + j) * extents[2] + k) * extents[3];
  }
};

/// Products that an output sums, those with the padding's zeros among them.
std::int64_t terms_of_output(const Conv2dArguments& arguments);

/// The definition, whatever the direction: y(n, p, q, k) += x(n, h, w, c) w(k, r, s, c - first of the group)
/// where h and w belong to place (p, q) and tap (r, s).
class Definition {
 public:
  /// Takes over all values of A and B. The arguments outlive it.
  explicit Definition(const Conv2dArguments& arguments);

  /// The sums of a line of outputs. May be called from several threads.
  std::vector<Sum> line(const Place& place) const;

 private:
  std::int64_t row(std::int64_t p, std::int64_t r) const;
  std::int64_t column(std::int64_t q, std::int64_t s) const;
  bool is_inside(std::int64_t row, std::int64_t column) const;
  std::int64_t channels() const { return w_[3]; }
  std::int64_t filters() const { return w_[0] / args_.groups; }

  void add_outputs(const Place& at, Sum* sums) const;
  void add_activations(const Place& at, Sum* sums) const;
  void add_filters(const Place& at, Sum* sums) const;

  const Conv2dArguments& args_;
  /// Extents of activations, filters and outputs.
  Extents x_, w_, y_;
  Numbers a_, b_;
};

}  // namespace quarry::lab::conv2d
