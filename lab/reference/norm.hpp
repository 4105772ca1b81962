/// A Euclidean norm of numbers of any size.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace quarry::lab {

/// Adds up squares, which may lie beyond the range of double where the numbers do not.
class Norm {
 public:
  void add(double x) { squares_ += static_cast<long double>(x) * x; }
  /// Adds what another one has added up.
  void add(const Norm& other) { squares_ += other.squares_; }
  long double value() const { return std::sqrt(squares_); }
  /// The same as a double; the greatest one where it is beyond, as an infinite norm would permit everything.
  double finite_value() const {
    return static_cast<double>(std::min<long double>(value(), std::numeric_limits<double>::max()));
  }

 private:
  static_assert(std::numeric_limits<long double>::max_exponent >
                4 * std::numeric_limits<double>::max_exponent);
  long double squares_ = 0;
};

}  // namespace quarry::lab
