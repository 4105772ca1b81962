/// Numbers that know how far the same number computed in f32 may lie from them.
#pragma once

#include <limits>

#include "operations/common/expression/functions.hpp"
#include "operations/common/expression/graph.hpp"

namespace quarry::lab {

/// A float64 value, and how far a kernel's may lie from it; infinitely far where nothing can be said, because
/// rounding decides between a number and none, or between two sides of a pole.
struct Bounded {
  double value = 0;
  double radius = 0;

  bool is_known() const { return radius < std::numeric_limits<double>::infinity(); }
};

/// For Interpreter: float64, with the errors of f32 along. Operands are varied to the ends of their
/// intervals, and to 0 where that lies between; so a bound is exact for functions that rise or fall all the
/// way, and near for others.
class BoundedArithmetic {
 public:
  using Value = Bounded;

  /// @param terms how many values a reduction may add up in a row: what its rounding errors grow by
  explicit BoundedArithmetic(double terms) : terms_(terms) {}

  Bounded exact(double x) const { return {x, 0}; }
  Bounded sum(double x, double radius) const { return {x, radius}; }
  Bounded call(const detail::Function& function, detail::ValueType type, const Bounded* x,
               bool is_rough = false) const;
  Bounded rounded(DType type, const Bounded& x) const;
  Bounded accumulated(bool is_maximum, detail::ValueType type, const Bounded& total, const Bounded& x) const;

 private:
  double terms_;
};

/// Whether `got`, read from an output of a type, is what a kernel may have stored for this value: only
/// rounding lies between them.
bool could_be_stored(const Bounded& value, DType type, double got);

}  // namespace quarry::lab
