/// The matrix multiply-add of a warpgroup: four warps from a multiple of four on, operands in shared memory
/// (PTX ISA, wgmma.mma_async). It runs beside the threads: sums may be touched only behind warpgroup_wait.
#pragma once

#include "arch/ptx/entry.hpp"
#include "arch/ptx/warpgroup_registers.hpp"
#include "arch/types_sm90.hpp"

namespace quarry::arch {

/// Before the first matrix instruction, and wherever threads have touched the sums since the last one.
QUARRY_DEVICE void warpgroup_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

/// Ends a group of matrix instructions.
QUARRY_DEVICE void warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Waits until at most `Pending` groups are under way: the sums of the others are there, and their operands
/// were read.
template <int Pending>
QUARRY_DEVICE void warpgroup_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

/// Tells the compiler that sums change here, so that it moves no use of them across a wait.
template <int N>
QUARRY_DEVICE void warpgroup_hold(WarpgroupSumsF32<N>& sums) {
  QUARRY_UNROLL
  for (int i = 0; i < N / 2; ++i) asm volatile("" : "+f"(sums.v[i])::"memory");
}
template <int N>
QUARRY_DEVICE void warpgroup_hold(WarpgroupSumsS32<N>& sums) {
  QUARRY_UNROLL
  for (int i = 0; i < N / 2; ++i) asm volatile("" : "+r"(sums.v[i])::"memory");
}
template <int N>
QUARRY_DEVICE void warpgroup_hold(WarpgroupSumsF16<N>& sums) {
  QUARRY_UNROLL
  for (int i = 0; i < N / 4; ++i) asm volatile("" : "+r"(sums.v[i])::"memory");
}

/// Gives registers back: this warp will have `Registers` a thread. By all warps of a warpgroup (PTX ISA,
/// setmaxnreg).
template <int Registers>
QUARRY_DEVICE void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// Waits until the block has registers to spare, and takes them.
template <int Registers>
QUARRY_DEVICE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// sums = a b (`accumulate` 0) or sums += a b for a 64 x 16 `a` and a 16 x N `b` of elements of type Input,
/// of which the extents `a_major` and `b_major` are contiguous.
template <class Input, class Sums, Major a_major, Major b_major>
struct WarpgroupMultiply;

template <class Input, Major a_major, Major b_major, class Sums>
QUARRY_DEVICE void warpgroup_multiply(Sums& sums, MatrixDescriptor a, MatrixDescriptor b, int accumulate) {
  WarpgroupMultiply<Input, Sums, a_major, b_major>::run(sums, a, b, accumulate);
}

/// `at` numbers the operands behind the sums: descriptors, accumulate, majors.
#define QUARRY_MULTIPLY(N, types, Sums, registers, constraint, a_at, b_at, accumulate_at, a_major_at,     \
                        b_major_at)                                                                       \
  static QUARRY_DEVICE void run(Sums<N>& sums, MatrixDescriptor a, MatrixDescriptor b, int accumulate) {  \
    auto& v = sums.v;                                                                                     \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #accumulate_at                                      \
                 ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N "k16." types " {" QUARRY_PLACES_##registers \
                 "}, %" #a_at ", %" #b_at ", p, 1, 1, %" #a_major_at ", %" #b_major_at ";\n}"             \
                 : QUARRY_SUMS_##registers(constraint)                                                    \
                 : "l"(a), "l"(b), "r"(accumulate), "n"(static_cast<int>(a_major)),                       \
                   "n"(static_cast<int>(b_major)));                                                       \
  }

#define QUARRY_MULTIPLIES_F32(N, registers, a, b, c, d, e)                               \
  template <Major a_major, Major b_major>                                                \
  struct WarpgroupMultiply<BF16, WarpgroupSumsF32<N>, a_major, b_major> {                \
    QUARRY_MULTIPLY(N, "f32.bf16.bf16", WarpgroupSumsF32, registers, "f", a, b, c, d, e) \
  };                                                                                     \
  template <Major a_major, Major b_major>                                                \
  struct WarpgroupMultiply<F16, WarpgroupSumsF32<N>, a_major, b_major> {                 \
    QUARRY_MULTIPLY(N, "f32.f16.f16", WarpgroupSumsF32, registers, "f", a, b, c, d, e)   \
  };

#define QUARRY_MULTIPLIES_F16(N, registers, a, b, c, d, e)                             \
  template <Major a_major, Major b_major>                                              \
  struct WarpgroupMultiply<F16, WarpgroupSumsF16<N>, a_major, b_major> {               \
    QUARRY_MULTIPLY(N, "f16.f16.f16", WarpgroupSumsF16, registers, "r", a, b, c, d, e) \
  };

QUARRY_MULTIPLIES_F32(8, 4, 4, 5, 6, 7, 8)
QUARRY_MULTIPLIES_F32(16, 8, 8, 9, 10, 11, 12)
QUARRY_MULTIPLIES_F32(24, 12, 12, 13, 14, 15, 16)
QUARRY_MULTIPLIES_F32(32, 16, 16, 17, 18, 19, 20)
QUARRY_MULTIPLIES_F32(40, 20, 20, 21, 22, 23, 24)
QUARRY_MULTIPLIES_F32(48, 24, 24, 25, 26, 27, 28)
QUARRY_MULTIPLIES_F32(56, 28, 28, 29, 30, 31, 32)
QUARRY_MULTIPLIES_F32(64, 32, 32, 33, 34, 35, 36)
QUARRY_MULTIPLIES_F32(72, 36, 36, 37, 38, 39, 40)
QUARRY_MULTIPLIES_F32(80, 40, 40, 41, 42, 43, 44)
QUARRY_MULTIPLIES_F32(88, 44, 44, 45, 46, 47, 48)
QUARRY_MULTIPLIES_F32(96, 48, 48, 49, 50, 51, 52)
QUARRY_MULTIPLIES_F32(104, 52, 52, 53, 54, 55, 56)
QUARRY_MULTIPLIES_F32(112, 56, 56, 57, 58, 59, 60)
QUARRY_MULTIPLIES_F32(120, 60, 60, 61, 62, 63, 64)
QUARRY_MULTIPLIES_F32(128, 64, 64, 65, 66, 67, 68)
QUARRY_MULTIPLIES_F32(136, 68, 68, 69, 70, 71, 72)
QUARRY_MULTIPLIES_F32(144, 72, 72, 73, 74, 75, 76)
QUARRY_MULTIPLIES_F32(152, 76, 76, 77, 78, 79, 80)
QUARRY_MULTIPLIES_F32(160, 80, 80, 81, 82, 83, 84)
QUARRY_MULTIPLIES_F32(168, 84, 84, 85, 86, 87, 88)
QUARRY_MULTIPLIES_F32(176, 88, 88, 89, 90, 91, 92)
QUARRY_MULTIPLIES_F32(184, 92, 92, 93, 94, 95, 96)
QUARRY_MULTIPLIES_F32(192, 96, 96, 97, 98, 99, 100)
QUARRY_MULTIPLIES_F32(200, 100, 100, 101, 102, 103, 104)
QUARRY_MULTIPLIES_F32(208, 104, 104, 105, 106, 107, 108)
QUARRY_MULTIPLIES_F32(216, 108, 108, 109, 110, 111, 112)
QUARRY_MULTIPLIES_F32(224, 112, 112, 113, 114, 115, 116)
QUARRY_MULTIPLIES_F32(232, 116, 116, 117, 118, 119, 120)
QUARRY_MULTIPLIES_F32(240, 120, 120, 121, 122, 123, 124)
QUARRY_MULTIPLIES_F32(248, 124, 124, 125, 126, 127, 128)
QUARRY_MULTIPLIES_F32(256, 128, 128, 129, 130, 131, 132)
QUARRY_MULTIPLIES_F16(8, 2, 2, 3, 4, 5, 6)
QUARRY_MULTIPLIES_F16(16, 4, 4, 5, 6, 7, 8)
QUARRY_MULTIPLIES_F16(24, 6, 6, 7, 8, 9, 10)
QUARRY_MULTIPLIES_F16(32, 8, 8, 9, 10, 11, 12)
QUARRY_MULTIPLIES_F16(40, 10, 10, 11, 12, 13, 14)
QUARRY_MULTIPLIES_F16(48, 12, 12, 13, 14, 15, 16)
QUARRY_MULTIPLIES_F16(56, 14, 14, 15, 16, 17, 18)
QUARRY_MULTIPLIES_F16(64, 16, 16, 17, 18, 19, 20)
QUARRY_MULTIPLIES_F16(72, 18, 18, 19, 20, 21, 22)
QUARRY_MULTIPLIES_F16(80, 20, 20, 21, 22, 23, 24)
QUARRY_MULTIPLIES_F16(88, 22, 22, 23, 24, 25, 26)
QUARRY_MULTIPLIES_F16(96, 24, 24, 25, 26, 27, 28)
QUARRY_MULTIPLIES_F16(104, 26, 26, 27, 28, 29, 30)
QUARRY_MULTIPLIES_F16(112, 28, 28, 29, 30, 31, 32)
QUARRY_MULTIPLIES_F16(120, 30, 30, 31, 32, 33, 34)
QUARRY_MULTIPLIES_F16(128, 32, 32, 33, 34, 35, 36)
QUARRY_MULTIPLIES_F16(136, 34, 34, 35, 36, 37, 38)
QUARRY_MULTIPLIES_F16(144, 36, 36, 37, 38, 39, 40)
QUARRY_MULTIPLIES_F16(152, 38, 38, 39, 40, 41, 42)
QUARRY_MULTIPLIES_F16(160, 40, 40, 41, 42, 43, 44)
QUARRY_MULTIPLIES_F16(168, 42, 42, 43, 44, 45, 46)
QUARRY_MULTIPLIES_F16(176, 44, 44, 45, 46, 47, 48)
QUARRY_MULTIPLIES_F16(184, 46, 46, 47, 48, 49, 50)
QUARRY_MULTIPLIES_F16(192, 48, 48, 49, 50, 51, 52)
QUARRY_MULTIPLIES_F16(200, 50, 50, 51, 52, 53, 54)
QUARRY_MULTIPLIES_F16(208, 52, 52, 53, 54, 55, 56)
QUARRY_MULTIPLIES_F16(216, 54, 54, 55, 56, 57, 58)
QUARRY_MULTIPLIES_F16(224, 56, 56, 57, 58, 59, 60)
QUARRY_MULTIPLIES_F16(232, 58, 58, 59, 60, 61, 62)
QUARRY_MULTIPLIES_F16(240, 60, 60, 61, 62, 63, 64)
QUARRY_MULTIPLIES_F16(248, 62, 62, 63, 64, 65, 66)
QUARRY_MULTIPLIES_F16(256, 64, 64, 65, 66, 67, 68)

#undef QUARRY_MULTIPLIES_F16
#undef QUARRY_MULTIPLIES_F32
#undef QUARRY_MULTIPLY

}  // namespace quarry::arch
