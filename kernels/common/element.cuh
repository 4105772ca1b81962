/// From the names of element types to the types that device code stores and computes with.
#pragma once

#include "arch/arch.hpp"
#include "common/config_parts.hpp"
#include "quarry/types.hpp"

namespace quarry {

template <DType>
struct ElementType;
template <>
struct ElementType<DType::f16> {
  using Type = arch::F16;
};
template <>
struct ElementType<DType::bf16> {
  using Type = arch::BF16;
};
template <>
struct ElementType<DType::f32> {
  using Type = float;
};
template <>
struct ElementType<DType::f64> {
  using Type = double;
};

template <>
struct ElementType<DType::s8> {
  using Type = signed char;
};
template <>
struct ElementType<DType::u8> {
  using Type = unsigned char;
};
template <>
struct ElementType<DType::s32> {
  using Type = int;
};

template <>
struct ElementType<DType::e4m3> {
  using Type = arch::E4M3;
};
template <>
struct ElementType<DType::e5m2> {
  using Type = arch::E5M2;
};

/// A whole number of half a byte, out of the byte that it shares (common/element_pointer.cuh).
struct S4 {
  signed char value;
};
struct U4 {
  unsigned char value;
};
template <>
struct ElementType<DType::s4> {
  using Type = S4;
};
template <>
struct ElementType<DType::u4> {
  using Type = U4;
};

/// What an element is stored as.
template <DType type>
using Element = typename ElementType<type>::Type;

/// Four bytes of a word, by their type.
template <DType type>
struct ByteWord {
  using Type = arch::S8x4;
};
template <>
struct ByteWord<DType::u8> {
  using Type = arch::U8x4;
};

template <>
struct ByteWord<DType::e4m3> {
  using Type = arch::E4M3x4;
};

/// Eight half bytes of a word, by their type.
template <DType type>
struct HalfByteWord {
  using Type = arch::S4x8;
};
template <>
struct HalfByteWord<DType::u4> {
  using Type = arch::U4x8;
};

/// What sums of an accumulator type leave the main loop as: partial_type.
template <DType accumulator>
using Compute = Element<partial_type(accumulator)>;

/// The value of a stored element; exact.
template <class C>
QUARRY_DEVICE C to_compute(arch::F16 x) {
  return static_cast<C>(arch::to_f32(x));
}
template <class C>
QUARRY_DEVICE C to_compute(arch::BF16 x) {
  return static_cast<C>(arch::to_f32(x));
}
template <class C>
QUARRY_DEVICE C to_compute(float x) {
  return static_cast<C>(x);
}
template <class C>
QUARRY_DEVICE C to_compute(double x) {
  return static_cast<C>(x);
}
template <class C>
QUARRY_DEVICE C to_compute(int x) {
  return static_cast<C>(x);
}
template <class C>
QUARRY_DEVICE C to_compute(signed char x) {
  return static_cast<C>(x);
}
template <class C>
QUARRY_DEVICE C to_compute(unsigned char x) {
  return static_cast<C>(x);
}

template <class C>
QUARRY_DEVICE C to_compute(S4 x) {
  return static_cast<C>(x.value);
}
template <class C>
QUARRY_DEVICE C to_compute(U4 x) {
  return static_cast<C>(x.value);
}

/// Both have the bits of a wider type with fewer exponents: a product moves the exponent, and is
/// exact for subnormal numbers, too. NaN of e4m3 is the one magnitude of all ones; e5m2 is the upper half of
/// f16.
template <class C>
QUARRY_DEVICE C to_compute(arch::E4M3 x) {
  const unsigned magnitude = x.bits & 0x7fU;
  const float value = magnitude == 0x7f ? __builtin_bit_cast(float, 0x7fc00000U)
                                        : __builtin_bit_cast(float, magnitude << 20) * 0x1p120F;
  return static_cast<C>((x.bits & 0x80U) != 0 ? -value : value);
}
template <class C>
QUARRY_DEVICE C to_compute(arch::E5M2 x) {
  return static_cast<C>(arch::to_f32(arch::F16{static_cast<unsigned short>(x.bits << 8)}));
}

/// a + b, a * b and a * b + c, rounded once; whole numbers wrap.
template <class C>
QUARRY_DEVICE C added(C a, C b) {
  return a + b;
}
template <>
QUARRY_DEVICE int added<int>(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
template <class C>
QUARRY_DEVICE C multiplied(C a, C b) {
  return a * b;
}
template <>
QUARRY_DEVICE int multiplied<int>(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
}
template <class C>
QUARRY_DEVICE C multiplied_added(C a, C b, C c) {
  return arch::fma(a, b, c);
}
template <>
QUARRY_DEVICE int multiplied_added<int>(int a, int b, int c) {
  return static_cast<int>(static_cast<unsigned>(a) * static_cast<unsigned>(b) + static_cast<unsigned>(c));
}

/// A computed value rounded to what is stored: to the nearest, ties to even; from f64 to half precision by
/// way of f32. To bytes as arch::to_s8 does, to 8-bit floating point as arch::pair_of_e4m3.
template <class T>
QUARRY_DEVICE T to_element(float x) {
  return static_cast<T>(x);
}
template <>
QUARRY_DEVICE arch::F16 to_element<arch::F16>(float x) {
  return arch::to_f16(x);
}
template <>
QUARRY_DEVICE arch::BF16 to_element<arch::BF16>(float x) {
  return arch::to_bf16(x);
}
template <>
QUARRY_DEVICE signed char to_element<signed char>(float x) {
  return arch::to_s8(x);
}
template <>
QUARRY_DEVICE unsigned char to_element<unsigned char>(float x) {
  return arch::to_u8(x);
}
template <>
QUARRY_DEVICE arch::E4M3 to_element<arch::E4M3>(float x) {
  return {static_cast<unsigned char>(arch::pair_of_e4m3(x, 0) & 0xff)};
}
template <>
QUARRY_DEVICE arch::E5M2 to_element<arch::E5M2>(float x) {
  return {static_cast<unsigned char>(arch::pair_of_e5m2(x, 0) & 0xff)};
}
template <class T>
QUARRY_DEVICE T to_element(int x) {
  return x;
}
template <class T>
QUARRY_DEVICE T to_element(double x) {
  return to_element<T>(static_cast<float>(x));
}
template <>
QUARRY_DEVICE double to_element<double>(double x) {
  return x;
}

/// Two neighbours, rounded by one instruction where there is one.
template <class T, class C>
QUARRY_DEVICE arch::Vector<T, 2> to_elements(C first, C second) {
  return {to_element<T>(first), to_element<T>(second)};
}
template <>
QUARRY_DEVICE arch::Vector<arch::E4M3, 2> to_elements<arch::E4M3, float>(float first, float second) {
  return __builtin_bit_cast(arch::Vector<arch::E4M3, 2>, arch::pair_of_e4m3(first, second));
}
template <>
QUARRY_DEVICE arch::Vector<arch::E5M2, 2> to_elements<arch::E5M2, float>(float first, float second) {
  return __builtin_bit_cast(arch::Vector<arch::E5M2, 2>, arch::pair_of_e5m2(first, second));
}

}  // namespace quarry
