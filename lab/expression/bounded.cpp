#include "lab/expression/bounded.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "operations/common/expression/device_arithmetic.hpp"
#include "operations/common/expression/rough.hpp"

namespace quarry::lab {
namespace {

using detail::Accuracy;
using detail::Domain;
using detail::Function;
using detail::ValueType;

constexpr double unknown = std::numeric_limits<double>::infinity();

double unit_of(ValueType type) { return type == ValueType::f64 ? 0x1p-53 : 0x1p-24; }

/// How far `x` lies from `value`; infinitely far if one of them alone is a number.
double distance(double x, double value) {
  if (std::isnan(x) && std::isnan(value)) return 0;
  if (x == value) return 0;
  const double d = std::abs(x - value);
  return std::isnan(d) ? unknown : d;
}

/// Whether a kernel has exactly this value. Of zeros the sign is left open.
bool is_exact(const Bounded& x) { return x.radius == 0 && x.value != 0; }

/// Where activations and their derivatives turn, or jump: the end of an interval on one side of such a place
/// and the end on the other say nothing of what lies between.
constexpr double turns[] = {
    // The derivative of hardswish jumps behind -3 and behind 3.
    -3, -0x1.7ffffffffffffp+1, 3, 0x1.8000000000001p+1,
    // Extrema of the derivatives of silu, gelu and gelu_tanh.
    -2.3993572805552983, 2.3993572805552983, -1.4142135623730951, 1.4142135623730951, -1.4185040088560188,
    1.4185040088560188,
    // Minima of hardswish, silu, gelu and gelu_tanh.
    -1.5, -1.2784645427610738, -0.7517915246935645, -0.7524614220710163};  // gelu, gelu_tanh

/// The values that stand for an operand's interval: its centre first.
struct Points {
  double at[5 + std::size(turns)];
  int count = 1;

  /// @param turning whether the places where functions of one operand turn count, too
  Points(const Bounded& x, bool turning) : at{x.value} {
    if (is_exact(x) || std::isnan(x.value)) return;
    if (x.radius > 0) add(x.value - x.radius);
    if (x.radius > 0) add(x.value + x.radius);
    if (turning) {
      for (const double turn : turns) {
        if (std::abs(turn - x.value) <= x.radius) add(turn);
      }
    }
    if (std::abs(x.value) > x.radius) return;
    add(0.0);
    add(-0.0);
  }
  void add(double point) { at[count++] = point; }
};

/// The greatest distance from `value` that the function, in float64, has on all combinations of points.
double reach(const Function& function, const Bounded* x, double value) {
  const Points first(x[0], function.operands == 1);
  const Points second(function.operands > 1 ? x[1] : Bounded(), false);
  const Points third(function.operands > 2 ? x[2] : Bounded(), false);
  double most = 0;
  for (int i = 0; i < first.count; ++i) {
    for (int j = 0; j < second.count; ++j) {
      for (int k = 0; k < third.count; ++k) {
        const double at[] = {first.at[i], second.at[j], third.at[k]};
        most = std::max(most, distance(function.in_f64(at), value));
      }
    }
  }
  return most;
}

/// What rounding adds to a result's radius, in the type and, for differences of float64 themselves, here.
double rounding(const Function& function, ValueType type, const Bounded& result, double x) {
  const double size = std::abs(result.value) + result.radius;
  if (!std::isfinite(size)) return 0;
  if (function.accuracy == Accuracy::exact) return result.radius == 0 ? 0 : 0x1p-50 * size;
  const double unit = unit_of(type) + (result.radius == 0 ? 0 : 0x1p-50);
  const double smallest = type == ValueType::f64 ? 0 : 0x1p-125;  // subnormal results may become 0
  switch (function.accuracy) {
    case Accuracy::rounded: return unit * size + smallest;
    case Accuracy::accurate: return 4 * unit * size + smallest;
    default: return 8 * unit * (size + std::min(std::abs(x), 1.0)) + smallest;
  }
}

/// By how much steps of a function of several may exceed its result: hardswish multiplies by 6 before it
/// divides by 6.
constexpr double steps_exceed = 8;

/// Nothing is known of what overflows in the type although float64 has it. @param margin by how much steps of
/// the computation may exceed the result
Bounded limited(ValueType type, Bounded x, double margin = 1) {
  const double most = type == ValueType::f32   ? info_of(DType::f32).largest
                      : type == ValueType::s32 ? info_of(DType::s32).largest
                                               : unknown;
  if (std::isfinite(x.value) && (std::abs(x.value) + x.radius) * margin > most) x.radius = unknown;
  return x;
}

bool all_known(const Bounded* x, int count) {
  return std::all_of(x, x + count, [](const Bounded& b) { return b.is_known(); });
}

}  // namespace

Bounded BoundedArithmetic::call(const Function& function, ValueType type, const Bounded* x,
                                bool is_rough) const {
  // The value that is not selected does not count.
  if (function.domain == Domain::selection && x[0].radius == 0) return x[0].value != 0 ? x[1] : x[2];
  double centre[detail::max_operands] = {};
  for (int i = 0; i < function.operands; ++i) centre[i] = x[i].value;
  const bool gives_condition = function.domain == Domain::comparison || function.domain == Domain::logic;
  if (!all_known(x, function.operands)) {
    return {gives_condition ? 0 : std::numeric_limits<double>::quiet_NaN(), gives_condition ? 1 : unknown};
  }
  const bool exact = std::all_of(x, x + function.operands, is_exact);
  const bool whole = std::all_of(x, x + function.operands, [](const Bounded& b) { return b.radius == 0; });
  if (type == ValueType::s32 && whole) return {host::DeviceArithmetic().call(function, type, centre), 0};
  Bounded result = {function.in_f64(centre), 0};
  if (function.domain == Domain::comparison && !exact) {
    result.radius = distance(x[0].value, x[1].value) <= x[0].radius + x[1].radius ? 1 : 0;
    return result;
  }
  if (!exact) result.radius = reach(function, x, result.value);
  if (gives_condition) return result;
  result.radius += rounding(function, type, result, centre[0]);
  if (is_rough) result.radius += detail::rough_error * (std::abs(x[0].value) + x[0].radius);
  return limited(type, result, function.accuracy == Accuracy::composite ? steps_exceed : 1);
}

Bounded BoundedArithmetic::rounded(DType type, const Bounded& x) const {
  const host::DeviceArithmetic arithmetic;
  Bounded result = {arithmetic.rounded(type, x.value), x.radius};
  if (x.radius == 0) return result;
  if (!x.is_known()) return {is_integer(type) ? 0 : x.value, unknown};
  result.radius = std::max(distance(arithmetic.rounded(type, x.value - x.radius), result.value),
                           distance(arithmetic.rounded(type, x.value + x.radius), result.value));
  return result;
}

Bounded BoundedArithmetic::accumulated(bool is_maximum, ValueType type, const Bounded& total,
                                       const Bounded& x) const {
  static const Function& plus = detail::functions()[*detail::find_function("+", 2)];
  static const Function& maximum = detail::functions()[*detail::find_function("max", 2)];
  const Bounded operands[] = {total, x};
  if (is_maximum || type == ValueType::s32) return call(is_maximum ? maximum : plus, type, operands);
  // Kernels add in another order: a value takes part in so many roundings.
  const double errors = std::isfinite(x.value) ? unit_of(type) * terms_ * std::abs(x.value) : 0;
  return limited(type, {total.value + x.value, total.radius + x.radius + errors});
}

bool could_be_stored(const Bounded& value, DType type, double got) {
  if (!value.is_known()) return true;
  const host::DeviceArithmetic arithmetic;
  if (std::isnan(value.value)) return is_integer(type) ? got == 0 : std::isnan(got);
  const double low = arithmetic.rounded(type, value.value - value.radius);
  const double high = arithmetic.rounded(type, value.value + value.radius);
  return low <= got && got <= high;
}

}  // namespace quarry::lab
