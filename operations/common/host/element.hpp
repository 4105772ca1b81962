/// Elements in memory: reading and writing them by their DType.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "basic/numbers.hpp"
#include "common/config_parts.hpp"
#include "quarry/types.hpp"

namespace quarry::host {

/// How elements of one type are stored, read (`to_value`, exact) and written (`from_value`, rounded to the
/// nearest).
template <DType>
struct Element;

template <>
struct Element<DType::f16> {
  using Storage = std::uint16_t;
  static float to_value(Storage bits) { return f16_to_f32(bits); }
  static Storage from_value(double value) { return f32_to_f16(static_cast<float>(value)); }
};

template <>
struct Element<DType::bf16> {
  using Storage = std::uint16_t;
  static float to_value(Storage bits) { return bf16_to_f32(bits); }
  static Storage from_value(double value) { return f32_to_bf16(static_cast<float>(value)); }
};

template <>
struct Element<DType::f32> {
  using Storage = float;
  static float to_value(Storage value) { return value; }
  static Storage from_value(double value) { return static_cast<float>(value); }
};

template <>
struct Element<DType::f64> {
  using Storage = double;
  static double to_value(Storage value) { return value; }
  static Storage from_value(double value) { return value; }
};

/// Integers, written as the nearest of the type: ties to even, what lies outside saturates, NaN becomes 0.
template <class T>
struct IntegerElement {
  using Storage = T;
  static std::int32_t to_value(Storage value) { return value; }
  static Storage from_value(double value) {
    if (std::isnan(value)) return 0;
    constexpr double least = std::numeric_limits<T>::min();
    constexpr double greatest = std::numeric_limits<T>::max();
    return static_cast<T>(std::nearbyint(std::clamp(value, least, greatest)));
  }
};
template <>
struct Element<DType::s8> : IntegerElement<std::int8_t> {};
template <>
struct Element<DType::u8> : IntegerElement<std::uint8_t> {};
template <>
struct Element<DType::s32> : IntegerElement<std::int32_t> {};

/// Whether elements of this type can be read and written here.
constexpr bool has_elements(DType type) { return type != DType::none; }

/// Calls `work` with the Element of `type`, so that a loop can be compiled for each. @pre has_elements(type)
template <class Work>
void with_element(DType type, Work&& work) {
  switch (type) {
    case DType::f16: return work(Element<DType::f16>{});
    case DType::bf16: return work(Element<DType::bf16>{});
    case DType::f32: return work(Element<DType::f32>{});
    case DType::f64: return work(Element<DType::f64>{});
    case DType::s8: return work(Element<DType::s8>{});
    case DType::u8: return work(Element<DType::u8>{});
    case DType::s32: return work(Element<DType::s32>{});
    default: return;
  }
}

/// Element `index` of an array, as a number. The array need not be aligned.
template <class E>
auto read_element(const void* data, std::int64_t index) {
  typename E::Storage bits;
  std::memcpy(&bits, static_cast<const char*>(data) + index * static_cast<std::int64_t>(sizeof bits),
              sizeof bits);
  return E::to_value(bits);
}

/// The same, of a type that is known only now. For few elements; loops go through with_element.
inline double read_element(DType type, const void* data, std::int64_t index) {
  double value = 0;
  with_element(type, [&]<class E>(E) { value = static_cast<double>(read_element<E>(data, index)); });
  return value;
}

/// Writes `value`, rounded, as element `index` of an array.
template <class E>
void write_element(void* data, std::int64_t index, double value) {
  const typename E::Storage bits = E::from_value(value);
  std::memcpy(static_cast<char*>(data) + index * static_cast<std::int64_t>(sizeof bits), &bits, sizeof bits);
}

/// The same, of a type that is known only now.
inline void write_element(DType type, void* data, std::int64_t index, double value) {
  with_element(type, [&]<class E>(E) { write_element<E>(data, index, value); });
}

}  // namespace quarry::host
