/// Matrix multiply-add of a warpgroup on operands that must be contiguous along K: of tf32, 8-bit floating
/// point and bytes (PTX ISA, wgmma.mma_async). As warpgroup.hpp.
#pragma once

#include "arch/ptx/warpgroup.hpp"

namespace quarry::arch {

/// sums = a b (`accumulate` 0) or sums += a b for 32 bytes along K: a 64 x 8 `a` and an 8 x N `b` of TF32
/// (the low 13 bits of f32 are ignored), or 64 x 32 and 32 x N of E4M3, E5M2, s8 or u8 in any pair of the
/// first or of the last two. Sums of s32 end at the type's nearest number.
template <class InputA, class InputB, class Sums>
struct WarpgroupMultiplyAlongK;

template <class InputA, class InputB, class Sums>
QUARRY_DEVICE void warpgroup_multiply_along_k(Sums& sums, MatrixDescriptor a, MatrixDescriptor b,
                                              int accumulate) {
  WarpgroupMultiplyAlongK<InputA, InputB, Sums>::run(sums, a, b, accumulate);
}

/// `at` numbers the operands behind the sums; `scales` are the signs of floating-point operands.
#define QUARRY_MULTIPLY(A, B, Sums, k, types, scales, registers, constraint, a_at, b_at, accumulate_at) \
  template <>                                                                                           \
  struct WarpgroupMultiplyAlongK<A, B, Sums> {                                                          \
    static QUARRY_DEVICE void run(Sums& sums, MatrixDescriptor a, MatrixDescriptor b, int accumulate) { \
      auto& v = sums.v;                                                                                 \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #accumulate_at                                  \
                   ", 0;\nwgmma.mma_async.sync.aligned.m64n" k types " {" QUARRY_PLACES_##registers     \
                   "}, %" #a_at ", %" #b_at ", p" scales ";\n}"                                         \
                   : QUARRY_SUMS_##registers(constraint)                                                \
                   : "l"(a), "l"(b), "r"(accumulate));                                                  \
    }                                                                                                   \
  };

#define QUARRY_MULTIPLIES_FLOAT(N, registers, a, b, c)                                                      \
  QUARRY_MULTIPLY(TF32, TF32, WarpgroupSumsF32<N>, #N "k8", ".f32.tf32.tf32", ", 1, 1", registers, "f", a,  \
                  b, c)                                                                                     \
  QUARRY_MULTIPLY(E4M3, E4M3, WarpgroupSumsF32<N>, #N "k32", ".f32.e4m3.e4m3", ", 1, 1", registers, "f", a, \
                  b, c)                                                                                     \
  QUARRY_MULTIPLY(E4M3, E5M2, WarpgroupSumsF32<N>, #N "k32", ".f32.e4m3.e5m2", ", 1, 1", registers, "f", a, \
                  b, c)                                                                                     \
  QUARRY_MULTIPLY(E5M2, E4M3, WarpgroupSumsF32<N>, #N "k32", ".f32.e5m2.e4m3", ", 1, 1", registers, "f", a, \
                  b, c)                                                                                     \
  QUARRY_MULTIPLY(E5M2, E5M2, WarpgroupSumsF32<N>, #N "k32", ".f32.e5m2.e5m2", ", 1, 1", registers, "f", a, \
                  b, c)

#define QUARRY_MULTIPLIES_BYTES(N, registers, a, b, c)                                                     \
  QUARRY_MULTIPLY(signed char, signed char, WarpgroupSumsS32<N>, #N "k32", ".satfinite.s32.s8.s8", "",     \
                  registers, "r", a, b, c)                                                                 \
  QUARRY_MULTIPLY(signed char, unsigned char, WarpgroupSumsS32<N>, #N "k32", ".satfinite.s32.s8.u8", "",   \
                  registers, "r", a, b, c)                                                                 \
  QUARRY_MULTIPLY(unsigned char, signed char, WarpgroupSumsS32<N>, #N "k32", ".satfinite.s32.u8.s8", "",   \
                  registers, "r", a, b, c)                                                                 \
  QUARRY_MULTIPLY(unsigned char, unsigned char, WarpgroupSumsS32<N>, #N "k32", ".satfinite.s32.u8.u8", "", \
                  registers, "r", a, b, c)

QUARRY_MULTIPLIES_FLOAT(8, 4, 4, 5, 6)
QUARRY_MULTIPLIES_FLOAT(16, 8, 8, 9, 10)
QUARRY_MULTIPLIES_FLOAT(24, 12, 12, 13, 14)
QUARRY_MULTIPLIES_FLOAT(32, 16, 16, 17, 18)
QUARRY_MULTIPLIES_FLOAT(40, 20, 20, 21, 22)
QUARRY_MULTIPLIES_FLOAT(48, 24, 24, 25, 26)
QUARRY_MULTIPLIES_FLOAT(56, 28, 28, 29, 30)
QUARRY_MULTIPLIES_FLOAT(64, 32, 32, 33, 34)
QUARRY_MULTIPLIES_FLOAT(72, 36, 36, 37, 38)
QUARRY_MULTIPLIES_FLOAT(80, 40, 40, 41, 42)
QUARRY_MULTIPLIES_FLOAT(88, 44, 44, 45, 46)
QUARRY_MULTIPLIES_FLOAT(96, 48, 48, 49, 50)
QUARRY_MULTIPLIES_FLOAT(104, 52, 52, 53, 54)
QUARRY_MULTIPLIES_FLOAT(112, 56, 56, 57, 58)
QUARRY_MULTIPLIES_FLOAT(120, 60, 60, 61, 62)
QUARRY_MULTIPLIES_FLOAT(128, 64, 64, 65, 66)
QUARRY_MULTIPLIES_FLOAT(136, 68, 68, 69, 70)
QUARRY_MULTIPLIES_FLOAT(144, 72, 72, 73, 74)
QUARRY_MULTIPLIES_FLOAT(152, 76, 76, 77, 78)
QUARRY_MULTIPLIES_FLOAT(160, 80, 80, 81, 82)
QUARRY_MULTIPLIES_FLOAT(168, 84, 84, 85, 86)
QUARRY_MULTIPLIES_FLOAT(176, 88, 88, 89, 90)
QUARRY_MULTIPLIES_FLOAT(184, 92, 92, 93, 94)
QUARRY_MULTIPLIES_FLOAT(192, 96, 96, 97, 98)
QUARRY_MULTIPLIES_FLOAT(200, 100, 100, 101, 102)
QUARRY_MULTIPLIES_FLOAT(208, 104, 104, 105, 106)
QUARRY_MULTIPLIES_FLOAT(216, 108, 108, 109, 110)
QUARRY_MULTIPLIES_FLOAT(224, 112, 112, 113, 114)
QUARRY_MULTIPLIES_FLOAT(232, 116, 116, 117, 118)
QUARRY_MULTIPLIES_FLOAT(240, 120, 120, 121, 122)
QUARRY_MULTIPLIES_FLOAT(248, 124, 124, 125, 126)
QUARRY_MULTIPLIES_FLOAT(256, 128, 128, 129, 130)
QUARRY_MULTIPLIES_BYTES(8, 4, 4, 5, 6)
QUARRY_MULTIPLIES_BYTES(16, 8, 8, 9, 10)
QUARRY_MULTIPLIES_BYTES(24, 12, 12, 13, 14)
QUARRY_MULTIPLIES_BYTES(32, 16, 16, 17, 18)
QUARRY_MULTIPLIES_BYTES(48, 24, 24, 25, 26)
QUARRY_MULTIPLIES_BYTES(64, 32, 32, 33, 34)
QUARRY_MULTIPLIES_BYTES(80, 40, 40, 41, 42)
QUARRY_MULTIPLIES_BYTES(96, 48, 48, 49, 50)
QUARRY_MULTIPLIES_BYTES(112, 56, 56, 57, 58)
QUARRY_MULTIPLIES_BYTES(128, 64, 64, 65, 66)
QUARRY_MULTIPLIES_BYTES(144, 72, 72, 73, 74)
QUARRY_MULTIPLIES_BYTES(160, 80, 80, 81, 82)
QUARRY_MULTIPLIES_BYTES(176, 88, 88, 89, 90)
QUARRY_MULTIPLIES_BYTES(192, 96, 96, 97, 98)
QUARRY_MULTIPLIES_BYTES(208, 104, 104, 105, 106)
QUARRY_MULTIPLIES_BYTES(224, 112, 112, 113, 114)
QUARRY_MULTIPLIES_BYTES(240, 120, 120, 121, 122)
QUARRY_MULTIPLIES_BYTES(256, 128, 128, 129, 130)

#undef QUARRY_MULTIPLIES_BYTES
#undef QUARRY_MULTIPLIES_FLOAT
#undef QUARRY_MULTIPLY

}  // namespace quarry::arch
