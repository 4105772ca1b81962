/// The matrix multiply-add of a warpgroup whose left operand is in registers (PTX ISA, wgmma.mma_async). As
/// warpgroup.hpp.
#pragma once

#include "arch/ptx/warpgroup.hpp"

namespace quarry::arch {

/// sums = a b (`accumulate` 0) or sums += a b for a 64 x 16 `a`, of whose rows each warp has 16, and a 16 x N
/// `b` that is contiguous along K, of elements of type Input. A warpgroup_fence must stand between what makes
/// `a` and this; the registers are read until the instruction is waited for.
template <class Input, class Sums>
struct WarpgroupMultiplyFragment;

template <class Input, class Sums>
QUARRY_DEVICE void warpgroup_multiply_fragment(Sums& sums, const MatrixFragment& a, MatrixDescriptor b,
                                               int accumulate) {
  WarpgroupMultiplyFragment<Input, Sums>::run(sums, a, b, accumulate);
}

/// `at` numbers the operands behind the sums: the fragment's registers, B's descriptor, accumulate.
#define QUARRY_MULTIPLY(N, Input, type, registers, a0_at, a1_at, a2_at, a3_at, b_at, accumulate_at)       \
  template <>                                                                                             \
  struct WarpgroupMultiplyFragment<Input, WarpgroupSumsF32<N>> {                                          \
    static QUARRY_DEVICE void run(WarpgroupSumsF32<N>& sums, const MatrixFragment& a, MatrixDescriptor b, \
                                  int accumulate) {                                                       \
      auto& v = sums.v;                                                                                   \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #accumulate_at                                    \
                   ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N "k16.f32." type "." type                  \
                   " {" QUARRY_PLACES_##registers "}, {%" #a0_at ", %" #a1_at ", %" #a2_at ", %" #a3_at   \
                                                  "}, %" #b_at ", p, 1, 1, 0;\n}"                         \
                   : QUARRY_SUMS_##registers("f")                                                         \
                   : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "l"(b), "r"(accumulate));        \
    }                                                                                                     \
  };

#define QUARRY_MULTIPLIES(N, registers, a0, a1, a2, a3, b, c)       \
  QUARRY_MULTIPLY(N, BF16, "bf16", registers, a0, a1, a2, a3, b, c) \
  QUARRY_MULTIPLY(N, F16, "f16", registers, a0, a1, a2, a3, b, c)

QUARRY_MULTIPLIES(8, 4, 4, 5, 6, 7, 8, 9)
QUARRY_MULTIPLIES(16, 8, 8, 9, 10, 11, 12, 13)
QUARRY_MULTIPLIES(32, 16, 16, 17, 18, 19, 20, 21)
QUARRY_MULTIPLIES(64, 32, 32, 33, 34, 35, 36, 37)
QUARRY_MULTIPLIES(96, 48, 48, 49, 50, 51, 52, 53)
QUARRY_MULTIPLIES(128, 64, 64, 65, 66, 67, 68, 69)
QUARRY_MULTIPLIES(256, 128, 128, 129, 130, 131, 132, 133)

#undef QUARRY_MULTIPLIES
#undef QUARRY_MULTIPLY

}  // namespace quarry::arch
