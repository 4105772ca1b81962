/// Arithmetic that C++ does not spell; see arch/ptx/number.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "arch/types.hpp"
#include "registry/basic/numbers.hpp"

namespace quarry::arch {

QUARRY_DEVICE float to_f32(F16 x) { return host::f16_to_f32(x.bits); }
QUARRY_DEVICE float to_f32(BF16 x) { return host::bf16_to_f32(x.bits); }
QUARRY_DEVICE F16 to_f16(float x) { return {host::f32_to_f16(x)}; }
QUARRY_DEVICE BF16 to_bf16(float x) { return {host::f32_to_bf16(x)}; }

template <class T>
QUARRY_DEVICE unsigned pair_of(float low, float high);
template <>
QUARRY_DEVICE unsigned pair_of<F16>(float low, float high) {
  return to_f16(low).bits | static_cast<unsigned>(to_f16(high).bits) << 16;
}
template <>
QUARRY_DEVICE unsigned pair_of<BF16>(float low, float high) {
  return to_bf16(low).bits | static_cast<unsigned>(to_bf16(high).bits) << 16;
}

QUARRY_DEVICE float to_tf32(float x) { return host::f32_to_tf32(x); }

QUARRY_DEVICE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
QUARRY_DEVICE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// 0 with x's sign for what is too small to be a normal number.
inline float without_subnormals(float x) {
  return __builtin_fabsf(x) < 0x1p-126F ? __builtin_copysignf(0.0F, x) : x;
}

QUARRY_DEVICE float exp2_approximate(float x) {
  return without_subnormals(__builtin_exp2f(without_subnormals(x)));
}
QUARRY_DEVICE float reciprocal_approximate(float x) { return without_subnormals(1 / without_subnormals(x)); }

QUARRY_DEVICE double exp(double x) { return __builtin_exp(x); }
QUARRY_DEVICE double tanh(double x) { return __builtin_tanh(x); }
QUARRY_DEVICE double erfc(double x) { return __builtin_erfc(x); }

}  // namespace quarry::arch
