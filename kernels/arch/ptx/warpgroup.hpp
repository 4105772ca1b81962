/// The matrix multiply-add of a warpgroup: four warps from a multiple of four on, operands in shared memory
/// (PTX ISA, wgmma.mma_async). It runs beside the threads: sums may be touched only behind warpgroup_wait.
#pragma once

#include "arch/ptx/entry.hpp"
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

// An instruction names each register of its sums, so each N has a text of its own: these are its parts. Only
// the preprocessor can put such texts together.

#define QUARRY_PLACES_4 "%0, %1, %2, %3"
#define QUARRY_PLACES_8 QUARRY_PLACES_4 ", %4, %5, %6, %7"
#define QUARRY_PLACES_12 QUARRY_PLACES_8 ", %8, %9, %10, %11"
#define QUARRY_PLACES_16 QUARRY_PLACES_12 ", %12, %13, %14, %15"
#define QUARRY_PLACES_20 QUARRY_PLACES_16 ", %16, %17, %18, %19"
#define QUARRY_PLACES_24 QUARRY_PLACES_20 ", %20, %21, %22, %23"
#define QUARRY_PLACES_28 QUARRY_PLACES_24 ", %24, %25, %26, %27"
#define QUARRY_PLACES_32 QUARRY_PLACES_28 ", %28, %29, %30, %31"
#define QUARRY_PLACES_36 QUARRY_PLACES_32 ", %32, %33, %34, %35"
#define QUARRY_PLACES_40 QUARRY_PLACES_36 ", %36, %37, %38, %39"
#define QUARRY_PLACES_44 QUARRY_PLACES_40 ", %40, %41, %42, %43"
#define QUARRY_PLACES_48 QUARRY_PLACES_44 ", %44, %45, %46, %47"
#define QUARRY_PLACES_52 QUARRY_PLACES_48 ", %48, %49, %50, %51"
#define QUARRY_PLACES_56 QUARRY_PLACES_52 ", %52, %53, %54, %55"
#define QUARRY_PLACES_60 QUARRY_PLACES_56 ", %56, %57, %58, %59"
#define QUARRY_PLACES_64 QUARRY_PLACES_60 ", %60, %61, %62, %63"
#define QUARRY_PLACES_68 QUARRY_PLACES_64 ", %64, %65, %66, %67"
#define QUARRY_PLACES_72 QUARRY_PLACES_68 ", %68, %69, %70, %71"
#define QUARRY_PLACES_76 QUARRY_PLACES_72 ", %72, %73, %74, %75"
#define QUARRY_PLACES_80 QUARRY_PLACES_76 ", %76, %77, %78, %79"
#define QUARRY_PLACES_84 QUARRY_PLACES_80 ", %80, %81, %82, %83"
#define QUARRY_PLACES_88 QUARRY_PLACES_84 ", %84, %85, %86, %87"
#define QUARRY_PLACES_92 QUARRY_PLACES_88 ", %88, %89, %90, %91"
#define QUARRY_PLACES_96 QUARRY_PLACES_92 ", %92, %93, %94, %95"
#define QUARRY_PLACES_100 QUARRY_PLACES_96 ", %96, %97, %98, %99"
#define QUARRY_PLACES_104 QUARRY_PLACES_100 ", %100, %101, %102, %103"
#define QUARRY_PLACES_108 QUARRY_PLACES_104 ", %104, %105, %106, %107"
#define QUARRY_PLACES_112 QUARRY_PLACES_108 ", %108, %109, %110, %111"
#define QUARRY_PLACES_116 QUARRY_PLACES_112 ", %112, %113, %114, %115"
#define QUARRY_PLACES_120 QUARRY_PLACES_116 ", %116, %117, %118, %119"
#define QUARRY_PLACES_124 QUARRY_PLACES_120 ", %120, %121, %122, %123"
#define QUARRY_PLACES_128 QUARRY_PLACES_124 ", %124, %125, %126, %127"
#define QUARRY_PLACES_2 "%0, %1"
#define QUARRY_PLACES_6 QUARRY_PLACES_2 ", %2, %3, %4, %5"
#define QUARRY_PLACES_10 QUARRY_PLACES_6 ", %6, %7, %8, %9"
#define QUARRY_PLACES_14 QUARRY_PLACES_10 ", %10, %11, %12, %13"
#define QUARRY_PLACES_18 QUARRY_PLACES_14 ", %14, %15, %16, %17"
#define QUARRY_PLACES_22 QUARRY_PLACES_18 ", %18, %19, %20, %21"
#define QUARRY_PLACES_26 QUARRY_PLACES_22 ", %22, %23, %24, %25"
#define QUARRY_PLACES_30 QUARRY_PLACES_26 ", %26, %27, %28, %29"
#define QUARRY_PLACES_34 QUARRY_PLACES_30 ", %30, %31, %32, %33"
#define QUARRY_PLACES_38 QUARRY_PLACES_34 ", %34, %35, %36, %37"
#define QUARRY_PLACES_42 QUARRY_PLACES_38 ", %38, %39, %40, %41"
#define QUARRY_PLACES_46 QUARRY_PLACES_42 ", %42, %43, %44, %45"
#define QUARRY_PLACES_50 QUARRY_PLACES_46 ", %46, %47, %48, %49"
#define QUARRY_PLACES_54 QUARRY_PLACES_50 ", %50, %51, %52, %53"
#define QUARRY_PLACES_58 QUARRY_PLACES_54 ", %54, %55, %56, %57"
#define QUARRY_PLACES_62 QUARRY_PLACES_58 ", %58, %59, %60, %61"

#define QUARRY_SUM(c, i) "+" c(v[i])
#define QUARRY_SUMS_2(c) QUARRY_SUM(c, 0), QUARRY_SUM(c, 1)
#define QUARRY_SUMS_4(c) QUARRY_SUMS_2(c), QUARRY_SUM(c, 2), QUARRY_SUM(c, 3)
#define QUARRY_SUMS_6(c) QUARRY_SUMS_4(c), QUARRY_SUM(c, 4), QUARRY_SUM(c, 5)
#define QUARRY_SUMS_8(c) QUARRY_SUMS_6(c), QUARRY_SUM(c, 6), QUARRY_SUM(c, 7)
#define QUARRY_SUMS_10(c) QUARRY_SUMS_8(c), QUARRY_SUM(c, 8), QUARRY_SUM(c, 9)
#define QUARRY_SUMS_12(c) QUARRY_SUMS_10(c), QUARRY_SUM(c, 10), QUARRY_SUM(c, 11)
#define QUARRY_SUMS_14(c) QUARRY_SUMS_12(c), QUARRY_SUM(c, 12), QUARRY_SUM(c, 13)
#define QUARRY_SUMS_16(c) QUARRY_SUMS_14(c), QUARRY_SUM(c, 14), QUARRY_SUM(c, 15)
#define QUARRY_SUMS_18(c) QUARRY_SUMS_16(c), QUARRY_SUM(c, 16), QUARRY_SUM(c, 17)
#define QUARRY_SUMS_20(c) QUARRY_SUMS_18(c), QUARRY_SUM(c, 18), QUARRY_SUM(c, 19)
#define QUARRY_SUMS_22(c) QUARRY_SUMS_20(c), QUARRY_SUM(c, 20), QUARRY_SUM(c, 21)
#define QUARRY_SUMS_24(c) QUARRY_SUMS_22(c), QUARRY_SUM(c, 22), QUARRY_SUM(c, 23)
#define QUARRY_SUMS_26(c) QUARRY_SUMS_24(c), QUARRY_SUM(c, 24), QUARRY_SUM(c, 25)
#define QUARRY_SUMS_28(c) QUARRY_SUMS_26(c), QUARRY_SUM(c, 26), QUARRY_SUM(c, 27)
#define QUARRY_SUMS_30(c) QUARRY_SUMS_28(c), QUARRY_SUM(c, 28), QUARRY_SUM(c, 29)
#define QUARRY_SUMS_32(c) QUARRY_SUMS_30(c), QUARRY_SUM(c, 30), QUARRY_SUM(c, 31)
#define QUARRY_SUMS_34(c) QUARRY_SUMS_32(c), QUARRY_SUM(c, 32), QUARRY_SUM(c, 33)
#define QUARRY_SUMS_36(c) QUARRY_SUMS_34(c), QUARRY_SUM(c, 34), QUARRY_SUM(c, 35)
#define QUARRY_SUMS_38(c) QUARRY_SUMS_36(c), QUARRY_SUM(c, 36), QUARRY_SUM(c, 37)
#define QUARRY_SUMS_40(c) QUARRY_SUMS_38(c), QUARRY_SUM(c, 38), QUARRY_SUM(c, 39)
#define QUARRY_SUMS_42(c) QUARRY_SUMS_40(c), QUARRY_SUM(c, 40), QUARRY_SUM(c, 41)
#define QUARRY_SUMS_44(c) QUARRY_SUMS_42(c), QUARRY_SUM(c, 42), QUARRY_SUM(c, 43)
#define QUARRY_SUMS_46(c) QUARRY_SUMS_44(c), QUARRY_SUM(c, 44), QUARRY_SUM(c, 45)
#define QUARRY_SUMS_48(c) QUARRY_SUMS_46(c), QUARRY_SUM(c, 46), QUARRY_SUM(c, 47)
#define QUARRY_SUMS_50(c) QUARRY_SUMS_48(c), QUARRY_SUM(c, 48), QUARRY_SUM(c, 49)
#define QUARRY_SUMS_52(c) QUARRY_SUMS_50(c), QUARRY_SUM(c, 50), QUARRY_SUM(c, 51)
#define QUARRY_SUMS_54(c) QUARRY_SUMS_52(c), QUARRY_SUM(c, 52), QUARRY_SUM(c, 53)
#define QUARRY_SUMS_56(c) QUARRY_SUMS_54(c), QUARRY_SUM(c, 54), QUARRY_SUM(c, 55)
#define QUARRY_SUMS_58(c) QUARRY_SUMS_56(c), QUARRY_SUM(c, 56), QUARRY_SUM(c, 57)
#define QUARRY_SUMS_60(c) QUARRY_SUMS_58(c), QUARRY_SUM(c, 58), QUARRY_SUM(c, 59)
#define QUARRY_SUMS_62(c) QUARRY_SUMS_60(c), QUARRY_SUM(c, 60), QUARRY_SUM(c, 61)
#define QUARRY_SUMS_64(c) QUARRY_SUMS_62(c), QUARRY_SUM(c, 62), QUARRY_SUM(c, 63)
#define QUARRY_SUMS_68(c) \
  QUARRY_SUMS_64(c), QUARRY_SUM(c, 64), QUARRY_SUM(c, 65), QUARRY_SUM(c, 66), QUARRY_SUM(c, 67)
#define QUARRY_SUMS_72(c) \
  QUARRY_SUMS_68(c), QUARRY_SUM(c, 68), QUARRY_SUM(c, 69), QUARRY_SUM(c, 70), QUARRY_SUM(c, 71)
#define QUARRY_SUMS_76(c) \
  QUARRY_SUMS_72(c), QUARRY_SUM(c, 72), QUARRY_SUM(c, 73), QUARRY_SUM(c, 74), QUARRY_SUM(c, 75)
#define QUARRY_SUMS_80(c) \
  QUARRY_SUMS_76(c), QUARRY_SUM(c, 76), QUARRY_SUM(c, 77), QUARRY_SUM(c, 78), QUARRY_SUM(c, 79)
#define QUARRY_SUMS_84(c) \
  QUARRY_SUMS_80(c), QUARRY_SUM(c, 80), QUARRY_SUM(c, 81), QUARRY_SUM(c, 82), QUARRY_SUM(c, 83)
#define QUARRY_SUMS_88(c) \
  QUARRY_SUMS_84(c), QUARRY_SUM(c, 84), QUARRY_SUM(c, 85), QUARRY_SUM(c, 86), QUARRY_SUM(c, 87)
#define QUARRY_SUMS_92(c) \
  QUARRY_SUMS_88(c), QUARRY_SUM(c, 88), QUARRY_SUM(c, 89), QUARRY_SUM(c, 90), QUARRY_SUM(c, 91)
#define QUARRY_SUMS_96(c) \
  QUARRY_SUMS_92(c), QUARRY_SUM(c, 92), QUARRY_SUM(c, 93), QUARRY_SUM(c, 94), QUARRY_SUM(c, 95)
#define QUARRY_SUMS_100(c) \
  QUARRY_SUMS_96(c), QUARRY_SUM(c, 96), QUARRY_SUM(c, 97), QUARRY_SUM(c, 98), QUARRY_SUM(c, 99)
#define QUARRY_SUMS_104(c) \
  QUARRY_SUMS_100(c), QUARRY_SUM(c, 100), QUARRY_SUM(c, 101), QUARRY_SUM(c, 102), QUARRY_SUM(c, 103)
#define QUARRY_SUMS_108(c) \
  QUARRY_SUMS_104(c), QUARRY_SUM(c, 104), QUARRY_SUM(c, 105), QUARRY_SUM(c, 106), QUARRY_SUM(c, 107)
#define QUARRY_SUMS_112(c) \
  QUARRY_SUMS_108(c), QUARRY_SUM(c, 108), QUARRY_SUM(c, 109), QUARRY_SUM(c, 110), QUARRY_SUM(c, 111)
#define QUARRY_SUMS_116(c) \
  QUARRY_SUMS_112(c), QUARRY_SUM(c, 112), QUARRY_SUM(c, 113), QUARRY_SUM(c, 114), QUARRY_SUM(c, 115)
#define QUARRY_SUMS_120(c) \
  QUARRY_SUMS_116(c), QUARRY_SUM(c, 116), QUARRY_SUM(c, 117), QUARRY_SUM(c, 118), QUARRY_SUM(c, 119)
#define QUARRY_SUMS_124(c) \
  QUARRY_SUMS_120(c), QUARRY_SUM(c, 120), QUARRY_SUM(c, 121), QUARRY_SUM(c, 122), QUARRY_SUM(c, 123)
#define QUARRY_SUMS_128(c) \
  QUARRY_SUMS_124(c), QUARRY_SUM(c, 124), QUARRY_SUM(c, 125), QUARRY_SUM(c, 126), QUARRY_SUM(c, 127)

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
