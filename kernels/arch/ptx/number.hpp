/// Arithmetic that C++ does not spell: half precision, fused multiply-add, approximations.
#pragma once

#include "arch/fp8_rounding.hpp"
#include "arch/ptx/entry.hpp"
#include "arch/types.hpp"

namespace quarry::arch {

/// The value of a stored element as f32; exact.
QUARRY_DEVICE float to_f32(F16 x) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
}
QUARRY_DEVICE float to_f32(BF16 x) { return __builtin_bit_cast(float, static_cast<unsigned>(x.bits) << 16); }

/// Rounds to the nearest f16, ties to even; too large becomes infinity, NaN stays NaN.
QUARRY_DEVICE F16 to_f16(float x) {
  F16 value;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value.bits) : "f"(x));
  return value;
}

/// Rounds to the nearest bf16, ties to even; NaN stays NaN.
QUARRY_DEVICE BF16 to_bf16(float x) {
  BF16 value;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(value.bits) : "f"(x));
  return value;
}

/// Two numbers rounded as to_f16 and to_bf16 do, `low` in the lower half of the word.
template <class T>
QUARRY_DEVICE unsigned pair_of(float low, float high);
template <>
QUARRY_DEVICE unsigned pair_of<F16>(float low, float high) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
template <>
QUARRY_DEVICE unsigned pair_of<BF16>(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

/// The lower two of four bytes as numbers of T, which are exact; the lowest byte in the lower half of the
/// word.
template <class T>
QUARRY_DEVICE unsigned low_pair_of(S8x4 bytes);
template <class T>
QUARRY_DEVICE unsigned low_pair_of(U8x4 bytes);

// 0x6400 is 1024 in f16, of which the lowest bits count ones: a byte becomes 1024 more than it is by putting
// it there. Of a signed byte, inverting the highest bit makes an unsigned one that is 128 more.
template <>
QUARRY_DEVICE unsigned low_pair_of<F16>(U8x4 bytes) {
  unsigned pair;
  asm("{\n\t.reg .b32 t;\n\t"
      "prmt.b32 t, %1, 0x64646464, 0x4140;\n\t"
      "sub.rn.f16x2 %0, t, %2;\n\t}"
      : "=r"(pair)
      : "r"(bytes.bits), "r"(0x64006400u));
  return pair;
}
template <>
QUARRY_DEVICE unsigned low_pair_of<F16>(S8x4 bytes) {
  unsigned pair;
  asm("{\n\t.reg .b32 t;\n\t"
      "prmt.b32 t, %1, 0x64646464, 0x4140;\n\t"
      "sub.rn.f16x2 %0, t, %2;\n\t}"
      : "=r"(pair)
      : "r"(bytes.bits ^ 0x8080u), "r"(0x64806480u));
  return pair;
}

// The same with 0x4b000000, which is 2^23 in f32: bf16 has too few bits for it.
template <>
QUARRY_DEVICE unsigned low_pair_of<BF16>(U8x4 bytes) {
  float low;
  float high;
  asm("prmt.b32 %0, %1, 0x4b000000, 0x7650;" : "=f"(low) : "r"(bytes.bits));
  asm("prmt.b32 %0, %1, 0x4b000000, 0x7651;" : "=f"(high) : "r"(bytes.bits));
  return pair_of<BF16>(low - 8388608.0F, high - 8388608.0F);
}
template <>
QUARRY_DEVICE unsigned low_pair_of<BF16>(S8x4 bytes) {
  const unsigned shifted = bytes.bits ^ 0x8080u;
  float low;
  float high;
  asm("prmt.b32 %0, %1, 0x4b000000, 0x7650;" : "=f"(low) : "r"(shifted));
  asm("prmt.b32 %0, %1, 0x4b000000, 0x7651;" : "=f"(high) : "r"(shifted));
  return pair_of<BF16>(low - 8388736.0F, high - 8388736.0F);
}

/// Rounds to the nearest number of 11 significant bits, as f32: what mma<TF32> takes. Ties go to even;
/// on 8.0, which has no such instruction (PTX ISA, cvt), away from 0.
QUARRY_DEVICE float to_tf32(float x) {
  unsigned value;
#if __CUDA_ARCH__ >= 900
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(value) : "f"(x));
#else
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(value) : "f"(x));
#endif
  return __builtin_bit_cast(float, value);
}

/// Rounds to the nearest whole number, ties to even; what lies outside the type becomes its nearest number,
/// NaN becomes 0.
QUARRY_DEVICE signed char to_s8(float x) {
  int value;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(value) : "f"(x));
  return static_cast<signed char>(value);
}
QUARRY_DEVICE unsigned char to_u8(float x) {
  unsigned value;
  asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(value) : "f"(x));
  return static_cast<unsigned char>(value);
}

/// Two numbers rounded to E4M3 or E5M2, `low` in the lower byte: to the nearest, ties to even. What is too
/// large, infinities too, becomes the greatest finite number of its sign; NaN becomes 0x7f (PTX ISA, cvt with
/// .satfinite; from 8.9 on).
QUARRY_DEVICE unsigned short pair_of_e4m3(float low, float high) {
#if __CUDA_ARCH__ >= 890
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return static_cast<unsigned short>(code_of_8_bits<3, 7, 0x7e>(low) | code_of_8_bits<3, 7, 0x7e>(high) << 8);
#endif
}
QUARRY_DEVICE unsigned short pair_of_e5m2(float low, float high) {
#if __CUDA_ARCH__ >= 890
  unsigned short pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return static_cast<unsigned short>(code_of_8_bits<2, 15, 0x7b>(low) | code_of_8_bits<2, 15, 0x7b>(high)
                                                                            << 8);
#endif
}

/// sum + the four products of numbers at the same place; wraps.
QUARRY_DEVICE int dot4(S8x4 a, S8x4 b, int sum) {
  int result;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a.bits), "r"(b.bits), "r"(sum));
  return result;
}
QUARRY_DEVICE int dot4(S8x4 a, U8x4 b, int sum) {
  int result;
  asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a.bits), "r"(b.bits), "r"(sum));
  return result;
}
QUARRY_DEVICE int dot4(U8x4 a, S8x4 b, int sum) {
  int result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a.bits), "r"(b.bits), "r"(sum));
  return result;
}
QUARRY_DEVICE int dot4(U8x4 a, U8x4 b, int sum) {
  int result;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a.bits), "r"(b.bits), "r"(sum));
  return result;
}

/// a * b + c, rounded once.
QUARRY_DEVICE float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
QUARRY_DEVICE double fma(double a, double b, double c) { return __fma_rn(a, b, c); }

/// The smaller and the greater of two numbers; NaN where one is NaN.
QUARRY_DEVICE float minimum(float a, float b) {
  float value;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(value) : "f"(a), "f"(b));
  return value;
}
QUARRY_DEVICE float maximum(float a, float b) {
  float value;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(value) : "f"(a), "f"(b));
  return value;
}

/// a * b + c, rounded once, then 0 where it is less or NaN, and 1 where it is greater.
QUARRY_DEVICE float fma_saturated(float a, float b, float c) {
  float value;
  asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(value) : "f"(a), "f"(b), "f"(c));
  return value;
}

/// 2 to the power x, relative error at most 2^-22; subnormal results become 0.
QUARRY_DEVICE float exp2_approximate(float x) {
  float value;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
  return value;
}

/// 1 / x within one unit in the last place; subnormal results become 0.
QUARRY_DEVICE float reciprocal_approximate(float x) {
  float value;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
  return value;
}

/// The hyperbolic tangent, relative error at most 2^-11 (PTX ISA, tanh).
QUARRY_DEVICE float tanh_approximate(float x) {
  float value;
  asm("tanh.approx.f32 %0, %1;" : "=f"(value) : "f"(x));
  return value;
}

/// a * b + c, rounded once, as an instruction that the compiler neither moves, merges nor makes conditional:
/// of several branches that differ in `b` alone it would otherwise make one multiplication behind a chain of
/// selections.
QUARRY_DEVICE float pinned_fma(float a, float b, float c) {
  float value;
  asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"(value) : "f"(a), "f"(b), "f"(c));
  return value;
}

/// The same number, of which the compiler knows nothing: what follows from it is computed where it is used,
/// and kept in no register from before.
QUARRY_DEVICE int opaque(int x) {
  asm volatile("" : "+r"(x));
  return x;
}
QUARRY_DEVICE const char* opaque(const char* address) {
  asm volatile("" : "+l"(address));
  return address;
}

/// Rounds to the nearest whole number, ties to even; what lies outside the type becomes its nearest number,
/// NaN becomes 0.
QUARRY_DEVICE int to_s32(float x) {
  int value;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(value) : "f"(x));
  return x == x ? value : 0;
}
QUARRY_DEVICE int to_s32(double x) {
  int value;
  asm("cvt.rni.s32.f64 %0, %1;" : "=r"(value) : "d"(x));
  return x == x ? value : 0;
}

/// Functions of f32 and f64, within a few units in the last place. The square root is rounded once.
QUARRY_DEVICE float log(float x) { return ::logf(x); }
QUARRY_DEVICE float square_root(float x) { return __fsqrt_rn(x); }
QUARRY_DEVICE float erf(float x) { return ::erff(x); }
QUARRY_DEVICE double log(double x) { return ::log(x); }
QUARRY_DEVICE double square_root(double x) { return __dsqrt_rn(x); }
QUARRY_DEVICE double erf(double x) { return ::erf(x); }
QUARRY_DEVICE double exp(double x) { return ::exp(x); }
QUARRY_DEVICE double tanh(double x) { return ::tanh(x); }
QUARRY_DEVICE double erfc(double x) { return ::erfc(x); }

}  // namespace quarry::arch
