/// Numbers of the filter language: what is defined for every operand, and says so where a result does not
/// exist.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace quarry::detail {

enum class Arithmetic : std::uint8_t { add, subtract, multiply, divide, modulo };

enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal, contains };

/// a <op> b in 64 bits; false on overflow and on division by zero.
inline bool compute(Arithmetic op, std::int64_t a, std::int64_t b, std::int64_t& result) {
  switch (op) {
    case Arithmetic::add: return !__builtin_add_overflow(a, b, &result);
    case Arithmetic::subtract: return !__builtin_sub_overflow(a, b, &result);
    case Arithmetic::multiply: return !__builtin_mul_overflow(a, b, &result);
    case Arithmetic::divide:
      if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return false;
      result = a / b;
      return true;
    case Arithmetic::modulo:
      if (b == 0) return false;
      result = b == -1 ? 0 : a % b;
      return true;
  }
  return false;
}

/// a <op> b; false where the result is not finite. There is no modulo of decimals.
inline bool compute(Arithmetic op, double a, double b, double& result) {
  switch (op) {
    case Arithmetic::add: result = a + b; break;
    case Arithmetic::subtract: result = a - b; break;
    case Arithmetic::multiply: result = a * b; break;
    case Arithmetic::divide: result = b != 0 ? a / b : std::numeric_limits<double>::infinity(); break;
    case Arithmetic::modulo: return false;
  }
  return std::isfinite(result);
}

/// a <op> b for values with an order.
template <class Value>
bool compare(Comparison op, const Value& a, const Value& b) {
  switch (op) {
    case Comparison::equal: return a == b;
    case Comparison::not_equal: return a != b;
    case Comparison::less: return a < b;
    case Comparison::less_equal: return a <= b;
    case Comparison::greater: return a > b;
    case Comparison::greater_equal: return a >= b;
    case Comparison::contains: return false;
  }
  return false;
}

/// The comparison that says of (b, a) what `op` says of (a, b).
constexpr Comparison mirrored(Comparison op) {
  switch (op) {
    case Comparison::less: return Comparison::greater;
    case Comparison::less_equal: return Comparison::greater_equal;
    case Comparison::greater: return Comparison::less;
    case Comparison::greater_equal: return Comparison::less_equal;
    default: return op;
  }
}

}  // namespace quarry::detail
