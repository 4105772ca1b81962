/// Arithmetic that C++ does not spell; see arch/ptx/number.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "arch/types.hpp"
#include "basic/numbers.hpp"

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

template <class T>
QUARRY_DEVICE unsigned low_pair_of(S8x4 bytes);
template <class T>
QUARRY_DEVICE unsigned low_pair_of(U8x4 bytes);

template <>
QUARRY_DEVICE unsigned low_pair_of<F16>(U8x4 bytes) {
  return pair_of<F16>(static_cast<unsigned char>(bytes.bits), static_cast<unsigned char>(bytes.bits >> 8));
}
template <>
QUARRY_DEVICE unsigned low_pair_of<F16>(S8x4 bytes) {
  return pair_of<F16>(static_cast<signed char>(bytes.bits), static_cast<signed char>(bytes.bits >> 8));
}
template <>
QUARRY_DEVICE unsigned low_pair_of<BF16>(U8x4 bytes) {
  return pair_of<BF16>(static_cast<unsigned char>(bytes.bits), static_cast<unsigned char>(bytes.bits >> 8));
}
template <>
QUARRY_DEVICE unsigned low_pair_of<BF16>(S8x4 bytes) {
  return pair_of<BF16>(static_cast<signed char>(bytes.bits), static_cast<signed char>(bytes.bits >> 8));
}

QUARRY_DEVICE float to_tf32(float x) { return host::f32_to_tf32(x); }

/// The whole number nearest to x, ties to even, from `least` to `most`; 0 for NaN.
inline int nearest_integer(float x, int least, int most) {
  if (x != x) return 0;
  if (x <= static_cast<float>(least)) return least;
  if (x >= static_cast<float>(most)) return most;
  return static_cast<int>(__builtin_rintf(x));
}

QUARRY_DEVICE unsigned short pair_of_e4m3(float low, float high) {
  return static_cast<unsigned short>(host::f32_to_e4m3(low) | host::f32_to_e4m3(high) << 8);
}
QUARRY_DEVICE unsigned short pair_of_e5m2(float low, float high) {
  return static_cast<unsigned short>(host::f32_to_e5m2(low) | host::f32_to_e5m2(high) << 8);
}

QUARRY_DEVICE signed char to_s8(float x) { return static_cast<signed char>(nearest_integer(x, -128, 127)); }
QUARRY_DEVICE unsigned char to_u8(float x) { return static_cast<unsigned char>(nearest_integer(x, 0, 255)); }

/// What dot4 does; A and B are the types of the bytes. No sum of four products overflows.
template <class A, class B>
int sum_of_products(unsigned a, unsigned b, int sum) {
  int products = 0;
  for (int i = 0; i < 4; ++i) products += static_cast<A>(a >> 8 * i) * static_cast<B>(b >> 8 * i);
  return static_cast<int>(static_cast<unsigned>(sum) + static_cast<unsigned>(products));
}

QUARRY_DEVICE int dot4(S8x4 a, S8x4 b, int sum) {
  return sum_of_products<signed char, signed char>(a.bits, b.bits, sum);
}
QUARRY_DEVICE int dot4(S8x4 a, U8x4 b, int sum) {
  return sum_of_products<signed char, unsigned char>(a.bits, b.bits, sum);
}
QUARRY_DEVICE int dot4(U8x4 a, S8x4 b, int sum) {
  return sum_of_products<unsigned char, signed char>(a.bits, b.bits, sum);
}
QUARRY_DEVICE int dot4(U8x4 a, U8x4 b, int sum) {
  return sum_of_products<unsigned char, unsigned char>(a.bits, b.bits, sum);
}

QUARRY_DEVICE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
QUARRY_DEVICE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// Of zeros, -0 is less than 0.
inline bool is_less(float a, float b) {
  return a < b || (a == b && __builtin_signbit(a) != 0 && __builtin_signbit(b) == 0);
}

QUARRY_DEVICE float minimum(float a, float b) { return a != a || is_less(a, b) ? a : b; }
QUARRY_DEVICE float maximum(float a, float b) { return a != a || is_less(b, a) ? a : b; }

QUARRY_DEVICE float fma_saturated(float a, float b, float c) {
  const float x = __builtin_fmaf(a, b, c);
  return x > 0 ? (x < 1 ? x : 1) : 0;
}

/// 0 with x's sign for what is too small to be a normal number.
inline float without_subnormals(float x) {
  return __builtin_fabsf(x) < 0x1p-126F ? __builtin_copysignf(0.0F, x) : x;
}

QUARRY_DEVICE float exp2_approximate(float x) {
  return without_subnormals(__builtin_exp2f(without_subnormals(x)));
}
QUARRY_DEVICE float reciprocal_approximate(float x) { return without_subnormals(1 / without_subnormals(x)); }

QUARRY_DEVICE int opaque(int x) { return x; }
QUARRY_DEVICE const char* opaque(const char* address) { return address; }

QUARRY_DEVICE float tanh_approximate(float x) { return __builtin_tanhf(x); }

QUARRY_DEVICE float pinned_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

QUARRY_DEVICE int to_s32(double x) {
  if (x != x) return 0;
  const double nearest = __builtin_rint(x);
  return nearest <= -0x1p31      ? -2147483647 - 1
         : nearest >= 0x1p31 - 1 ? 2147483647
                                 : static_cast<int>(nearest);
}
QUARRY_DEVICE int to_s32(float x) { return to_s32(static_cast<double>(x)); }

QUARRY_DEVICE float log(float x) { return __builtin_logf(x); }
QUARRY_DEVICE float square_root(float x) { return __builtin_sqrtf(x); }
QUARRY_DEVICE float erf(float x) { return __builtin_erff(x); }
QUARRY_DEVICE double log(double x) { return __builtin_log(x); }
QUARRY_DEVICE double square_root(double x) { return __builtin_sqrt(x); }
QUARRY_DEVICE double erf(double x) { return __builtin_erf(x); }
QUARRY_DEVICE double exp(double x) { return __builtin_exp(x); }
QUARRY_DEVICE double tanh(double x) { return __builtin_tanh(x); }
QUARRY_DEVICE double erfc(double x) { return __builtin_erfc(x); }

}  // namespace quarry::arch
