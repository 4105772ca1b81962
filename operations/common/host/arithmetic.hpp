/// The arithmetic of an epilogue on the CPU: floating-point numbers are rounded once an operation, 32-bit
/// integers wrap.
#pragma once

#include <cmath>
#include <cstdint>

namespace quarry::host {

template <class T>
T added(T a, T b) {
  return a + b;
}
inline std::int32_t added(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

template <class T>
T multiplied(T a, T b) {
  return a * b;
}
inline std::int32_t multiplied(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}

/// a * b + c.
template <class T>
T multiplied_added(T a, T b, T c) {
  return std::fma(a, b, c);
}
inline std::int32_t multiplied_added(std::int32_t a, std::int32_t b, std::int32_t c) {
  return added(multiplied(a, b), c);
}

}  // namespace quarry::host
