/// What differs by types between kernels: the matrix instruction and its sums.
#pragma once

#include "arch/sm90.hpp"
#include "common/element.cuh"
#include "gemm_sm90/config.hpp"

namespace quarry::gemm_sm90 {

/// The sums of a warpgroup's 64 rows and `n` columns.
template <DType accumulator, int n>
struct SumsOf {
  using Type = arch::WarpgroupSumsF32<n>;
};
template <int n>
struct SumsOf<DType::f16, n> {
  using Type = arch::WarpgroupSumsF16<n>;
};

/// How operands of a type are multiplied, where that is by one instruction on operands in shared memory: `k`
/// is what it multiplies along K, `Sums<n>` what it adds to. `start` adds the products of 64 rows of A and n
/// columns of B, which run beside the threads until a wait.
template <DType input, DType accumulator>
struct Multiply {
  static constexpr int k = instruction_k;
  template <int n>
  using Sums = typename SumsOf<accumulator, n>::Type;

  template <arch::Major a_major, arch::Major b_major, class Sums>
  QUARRY_DEVICE static void start(Sums& sums, arch::MatrixDescriptor a, arch::MatrixDescriptor b) {
    arch::warpgroup_multiply<Element<input>, a_major, b_major>(sums, a, b, 1);
  }
};

template <Config config>
using MultiplyOf = Multiply<config.types.a, config.types.accumulator>;

}  // namespace quarry::gemm_sm90
