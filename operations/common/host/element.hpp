/// Elements in memory: reading and writing them by their DType.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "basic/numbers.hpp"
#include "common/config_parts.hpp"
#include "quarry/types.hpp"

namespace quarry::host {

/// How elements of one type are stored, read (`to_value`, exact) and written (`from_value`, rounded to the
/// nearest). Storage of elements that share a byte is the byte's part, as a number.
template <DType type>
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

template <>
struct Element<DType::e4m3> {
  using Storage = std::uint8_t;
  static float to_value(Storage bits) { return e4m3_to_f32(bits); }
  static Storage from_value(double value) { return f32_to_e4m3(static_cast<float>(value)); }
};

template <>
struct Element<DType::e5m2> {
  using Storage = std::uint8_t;
  static float to_value(Storage bits) { return e5m2_to_f32(bits); }
  static Storage from_value(double value) { return f32_to_e5m2(static_cast<float>(value)); }
};

/// Integers, written as the nearest of the type: ties to even, what lies outside saturates, NaN becomes 0.
template <DType integer, class T>
struct IntegerElement {
  using Storage = T;
  static constexpr int bits = bits_of(integer);
  static std::int32_t to_value(Storage value) { return value; }
  static Storage from_value(double value) {
    if (std::isnan(value)) return 0;
    return static_cast<T>(std::nearbyint(std::clamp(value, lowest_of(integer), info_of(integer).largest)));
  }
};
template <>
struct Element<DType::s8> : IntegerElement<DType::s8, std::int8_t> {};
template <>
struct Element<DType::u8> : IntegerElement<DType::u8, std::uint8_t> {};
template <>
struct Element<DType::s32> : IntegerElement<DType::s32, std::int32_t> {};
template <>
struct Element<DType::s4> : IntegerElement<DType::s4, std::int8_t> {};
template <>
struct Element<DType::u4> : IntegerElement<DType::u4, std::uint8_t> {};

/// Bits of an element in memory.
template <class E>
inline constexpr int element_bits = [] {
  if constexpr (requires { E::bits; }) {
    return E::bits;
  } else {
    return static_cast<int>(8 * sizeof(typename E::Storage));
  }
}();

/// A type as a value whose type says which one it is.
template <DType type>
using TypeTag = std::integral_constant<DType, type>;

/// Calls `work` with the TypeTag of `type` if it is one of `types`. Returns whether it is.
template <DType... types, class Work>
bool with_type_of(DType type, Work&& work) {
  return ((type == types && (work(TypeTag<types>{}), true)) || ...);
}

/// Calls `work` with the TypeTag of `type`, whichever type of the table it is. Returns false for `none` and
/// numbers that are no type.
template <class Work>
bool with_type(DType type, Work&& work) {
  return [&]<int... before>(std::integer_sequence<int, before...>) {
    return with_type_of<static_cast<DType>(before + 1)...>(type, work);
  }
  (std::make_integer_sequence<int, dtype_count - 1>{});
}

/// Calls `work` with the Element of `type`, so that a loop can be compiled for each. @pre bits_of(type) > 0
template <class Work>
void with_element(DType type, Work&& work) {
  with_type(type, [&]<DType t>(TypeTag<t>) { work(Element<t>{}); });
}

/// What sums and the numbers of an epilogue are computed in on the CPU.
template <DType type>
using ComputeType = decltype(Element<type>::to_value({}));

/// Calls `work` with a 0 of the C++ type that a compute type (compute_type, partial_type) is computed in.
/// Returns false for types that are not computed in.
template <class Work>
bool with_compute_type(DType type, Work&& work) {
  return with_type_of<DType::f32, DType::f64, DType::s32>(
      type, [&]<DType t>(TypeTag<t>) { work(ComputeType<t>{0}); });
}

/// Element `index` of an array, as a number. The array need not be aligned; elements of half a byte begin at
/// the lower half of the first byte.
template <class E>
auto read_element(const void* data, std::int64_t index) {
  typename E::Storage bits;
  if constexpr (element_bits<E> == 4) {
    const auto byte = static_cast<const std::uint8_t*>(data)[index / 2];
    const int half = index % 2 == 0 ? byte & 15 : byte >> 4;
    bits = static_cast<typename E::Storage>(std::is_signed_v<typename E::Storage> ? (half ^ 8) - 8 : half);
  } else {
    std::memcpy(&bits, static_cast<const char*>(data) + index * static_cast<std::int64_t>(sizeof bits),
                sizeof bits);
  }
  return E::to_value(bits);
}

/// The same, of a type that is known only now. For few elements; loops go through with_element.
inline double read_element(DType type, const void* data, std::int64_t index) {
  double value = 0;
  with_element(type, [&]<class E>(E) { value = static_cast<double>(read_element<E>(data, index)); });
  return value;
}

/// Writes `value`, rounded, as element `index` of an array. An element of half a byte leaves the other half
/// as it is.
template <class E>
void write_element(void* data, std::int64_t index, double value) {
  const typename E::Storage bits = E::from_value(value);
  if constexpr (element_bits<E> == 4) {
    std::uint8_t& byte = static_cast<std::uint8_t*>(data)[index / 2];
    const int shift = index % 2 == 0 ? 0 : 4;
    byte = static_cast<std::uint8_t>((byte & ~(15 << shift)) | (bits & 15) << shift);
  } else {
    std::memcpy(static_cast<char*>(data) + index * static_cast<std::int64_t>(sizeof bits), &bits,
                sizeof bits);
  }
}

/// The same, of a type that is known only now.
inline void write_element(DType type, void* data, std::int64_t index, double value) {
  with_element(type, [&]<class E>(E) { write_element<E>(data, index, value); });
}

}  // namespace quarry::host
