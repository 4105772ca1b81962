/// What differs by types between kernels: the matrix instruction and its sums.
#pragma once

#include "arch/sm90.hpp"
#include "common/element.cuh"
#include "gemm_sm90/config.hpp"

namespace quarry::gemm_sm90 {

/// What the matrix instruction calls the elements of an operand.
template <DType input>
struct InputOf {
  using Type = Element<input>;
};
template <>
struct InputOf<DType::f32> {
  using Type = arch::TF32;
};

/// The sums of a warpgroup's 64 rows and `n` columns.
template <DType accumulator, int n>
struct SumsOf {
  using Type = arch::WarpgroupSumsF32<n>;
};
template <int n>
struct SumsOf<DType::s32, n> {
  using Type = arch::WarpgroupSumsS32<n>;
};
template <int n>
struct SumsOf<DType::f16, n> {
  using Type = arch::WarpgroupSumsF16<n>;
};

/// How operands of a type are multiplied, where that is by one instruction on operands in shared memory: `k`
/// is what it multiplies along K, `Sums<n>` what it adds to. `start` adds the products of 64 rows of A and n
/// columns of B, or with `accumulate` 0 puts them in the place of the sums; they run beside the threads until
/// a wait.
template <DType input_a, DType input_b, DType accumulator>
struct Multiply {
  static constexpr int k = instruction_k({input_a, input_b, accumulator, accumulator});
  template <int n>
  using Sums = typename SumsOf<accumulator, n>::Type;

  template <arch::Major a_major, arch::Major b_major, class Sums>
  QUARRY_DEVICE static void start(Sums& sums, arch::MatrixDescriptor a, arch::MatrixDescriptor b,
                                  int accumulate) {
    using A = typename InputOf<input_a>::Type;
    using B = typename InputOf<input_b>::Type;
    if constexpr (bytes_of(input_a) == 2) {
      arch::warpgroup_multiply<A, a_major, b_major>(sums, a, b, accumulate);
    } else {
      static_assert(a_major == arch::Major::k && b_major == arch::Major::k);
      arch::warpgroup_multiply_along_k<A, B>(sums, a, b, accumulate);
    }
  }
};

template <Config config>
using MultiplyOf = Multiply<config.types.a, config.types.b, config.types.accumulator>;

}  // namespace quarry::gemm_sm90
