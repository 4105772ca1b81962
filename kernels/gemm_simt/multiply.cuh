/// What differs by types between kernels: the items that are multiplied at once, and how.
#pragma once

#include "arch/arch.hpp"
#include "common/element.cuh"

namespace quarry::gemm_simt {

/// How operands of these types are multiplied. `ItemA` and `ItemB` are items of shared memory, `add` returns
/// sum + a b in the accumulator's type.
///
/// Items are numbers of that type, and there is one rounding.
template <DType type_a, DType type_b, DType accumulator>
struct Multiply {
  using ItemA = Compute<accumulator>;
  using ItemB = Compute<accumulator>;

  QUARRY_DEVICE static ItemA add(ItemA a, ItemB b, ItemA sum) { return arch::fma(a, b, sum); }
};

/// In f32, and then rounded to f16.
template <DType type_a, DType type_b>
struct Multiply<type_a, type_b, DType::f16> {
  using ItemA = float;
  using ItemB = float;

  QUARRY_DEVICE static float add(float a, float b, float sum) {
    return arch::to_f32(arch::to_f16(arch::fma(a, b, sum)));
  }
};

/// Items are four bytes that are neighbours along K; the sum wraps.
template <DType type_a, DType type_b>
struct Multiply<type_a, type_b, DType::s32> {
  using ItemA = typename ByteWord<type_a>::Type;
  using ItemB = typename ByteWord<type_b>::Type;

  QUARRY_DEVICE static int add(ItemA a, ItemB b, int sum) { return arch::dot4(a, b, sum); }
};

}  // namespace quarry::gemm_simt
