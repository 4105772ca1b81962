/// Values of expressions as kernels compute them: f32 rounded once a function, f64, or 32-bit integers that
/// wrap. Every such number is a double.
#pragma once

#include <cstdint>

#include "operations/common/expression/functions.hpp"
#include "operations/common/expression/graph.hpp"
#include "operations/common/host/arithmetic.hpp"
#include "operations/common/host/element.hpp"

namespace quarry::host {

/// For Interpreter.
struct DeviceArithmetic {
  using Value = double;

  double exact(double x) const { return x; }
  double sum(double x, double /*radius*/) const { return x; }

  /// What kernels compute roughly is exact here.
  double call(const detail::Function& function, detail::ValueType type, const double* x,
              bool /*is_rough*/ = false) const {
    if (type == detail::ValueType::f64) return function.in_f64(x);
    if (type == detail::ValueType::s32) return in(function.in_s32, function.operands, x);
    return in(function.in_f32, function.operands, x);
  }

  double rounded(DType type, double x) const {
    double result = 0;
    with_element(type, [&]<class E>(E) { result = static_cast<double>(E::to_value(E::from_value(x))); });
    return result;
  }

  double accumulated(bool is_maximum, detail::ValueType type, double total, double x) const {
    if (is_maximum) return total != total || total > x ? total : x;
    if (type == detail::ValueType::f64) return total + x;
    if (type == detail::ValueType::f32)
      return static_cast<double>(static_cast<float>(total) + static_cast<float>(x));
    return added(static_cast<std::int32_t>(total), static_cast<std::int32_t>(x));
  }

 private:
  template <class T>
  static double in(T (*function)(const T*), int count, const double* x) {
    T numbers[detail::max_operands] = {};
    for (int i = 0; i < count; ++i) numbers[i] = static_cast<T>(x[i]);
    return static_cast<double>(function(numbers));
  }
};

}  // namespace quarry::host
