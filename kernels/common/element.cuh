/// From the names of element types to the types that device code stores and computes with.
#pragma once

#include "arch/arch.hpp"
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

/// What an element is stored as.
template <DType type>
using Element = typename ElementType<type>::Type;

template <DType>
struct ComputeType {
  using Type = float;
};
template <>
struct ComputeType<DType::f64> {
  using Type = double;
};

/// What sums of an accumulator type leave the main loop as, and what the epilogue computes in: f64 for f64,
/// f32 otherwise.
template <DType accumulator>
using Compute = typename ComputeType<accumulator>::Type;

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

/// A computed value rounded to what is stored: to the nearest, ties to even; from f64 to half precision by
/// way of f32.
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
template <class T>
QUARRY_DEVICE T to_element(double x) {
  return to_element<T>(static_cast<float>(x));
}
template <>
QUARRY_DEVICE double to_element<double>(double x) {
  return x;
}

}  // namespace quarry
