/// Matrices: from shared memory into fragments, and the warp's matrix multiply-add.
#pragma once

#include "arch/ptx/entry.hpp"
#include "arch/ptx/number.hpp"
#include "arch/types.hpp"

namespace quarry::arch {

/// Loads four 8 x 8 matrices. Lane i gives the address of line i % 8 (16 bytes, aligned) of matrix i / 8, and
/// receives of each matrix the elements 2 (i % 4) and 2 (i % 4) + 1 of line i / 4.
QUARRY_DEVICE MatrixFragment load_matrix_x4(SharedAddress line) {
  MatrixFragment f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f.v[0]), "=r"(f.v[1]), "=r"(f.v[2]), "=r"(f.v[3])
               : "r"(line.value));
  return f;
}

/// The same with each matrix transposed: lane i receives elements i / 4 of lines 2 (i % 4) and 2 (i % 4) + 1.
QUARRY_DEVICE MatrixFragment load_matrix_x4_transposed(SharedAddress line) {
  MatrixFragment f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f.v[0]), "=r"(f.v[1]), "=r"(f.v[2]), "=r"(f.v[3])
               : "r"(line.value));
  return f;
}

/// sum += a b for a 16 x 16 `a` and a 16 x 8 `b` with elements of type Input (m16n8k16).
template <class Input>
QUARRY_DEVICE void mma(AccumulatorF32& sum, const MatrixFragment& a, const FragmentB& b);

template <>
QUARRY_DEVICE void mma<F16>(AccumulatorF32& sum, const MatrixFragment& a, const FragmentB& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum.v[0]), "+f"(sum.v[1]), "+f"(sum.v[2]), "+f"(sum.v[3])
      : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b.v[0]), "r"(b.v[1]));
}

template <>
QUARRY_DEVICE void mma<BF16>(AccumulatorF32& sum, const MatrixFragment& a, const FragmentB& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum.v[0]), "+f"(sum.v[1]), "+f"(sum.v[2]), "+f"(sum.v[3])
      : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b.v[0]), "r"(b.v[1]));
}

/// The same for a 16 x 8 `a` and an 8 x 8 `b`, a word of two elements a lane (m16n8k8).
template <class Input>
QUARRY_DEVICE void mma_k8(AccumulatorF32& sum, const FragmentA8& a, unsigned b);

template <>
QUARRY_DEVICE void mma_k8<F16>(AccumulatorF32& sum, const FragmentA8& a, unsigned b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(sum.v[0]), "+f"(sum.v[1]), "+f"(sum.v[2]), "+f"(sum.v[3])
      : "r"(a.v[0]), "r"(a.v[1]), "r"(b));
}

template <>
QUARRY_DEVICE void mma_k8<BF16>(AccumulatorF32& sum, const FragmentA8& a, unsigned b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(sum.v[0]), "+f"(sum.v[1]), "+f"(sum.v[2]), "+f"(sum.v[3])
      : "r"(a.v[0]), "r"(a.v[1]), "r"(b));
}

/// The same for a 16 x 8 `a` and an 8 x 8 `b` of f32, of which the lower 13 bits do not count (m16n8k8).
template <>
QUARRY_DEVICE void mma<TF32>(AccumulatorF32& sum, const MatrixFragment& a, const FragmentB& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum.v[0]), "+f"(sum.v[1]), "+f"(sum.v[2]), "+f"(sum.v[3])
      : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b.v[0]), "r"(b.v[1]));
}

/// sum += a b for a 16 x 32 `a` and a 32 x 8 `b` of bytes: S8x4 or U8x4 each (m16n8k32). A sum that leaves
/// s32 becomes its nearest number.
template <class A, class B>
QUARRY_DEVICE void mma(AccumulatorS32& sum, const MatrixFragment& a, const FragmentB& b);

template <>
QUARRY_DEVICE void mma<S8x4, S8x4>(AccumulatorS32& sum, const MatrixFragment& a, const FragmentB& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, "
      "{%0, %1, %2, %3};"
      : "+r"(sum.v[0]), "+r"(sum.v[1]), "+r"(sum.v[2]), "+r"(sum.v[3])
      : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b.v[0]), "r"(b.v[1]));
}

template <>
QUARRY_DEVICE void mma<S8x4, U8x4>(AccumulatorS32& sum, const MatrixFragment& a, const FragmentB& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, "
      "{%0, %1, %2, %3};"
      : "+r"(sum.v[0]), "+r"(sum.v[1]), "+r"(sum.v[2]), "+r"(sum.v[3])
      : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b.v[0]), "r"(b.v[1]));
}

template <>
QUARRY_DEVICE void mma<U8x4, S8x4>(AccumulatorS32& sum, const MatrixFragment& a, const FragmentB& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, "
      "{%0, %1, %2, %3};"
      : "+r"(sum.v[0]), "+r"(sum.v[1]), "+r"(sum.v[2]), "+r"(sum.v[3])
      : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b.v[0]), "r"(b.v[1]));
}

template <>
QUARRY_DEVICE void mma<U8x4, U8x4>(AccumulatorS32& sum, const MatrixFragment& a, const FragmentB& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, "
      "{%0, %1, %2, %3};"
      : "+r"(sum.v[0]), "+r"(sum.v[1]), "+r"(sum.v[2]), "+r"(sum.v[3])
      : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b.v[0]), "r"(b.v[1]));
}

/// sum += a b for a 16 x 4 `a` and a 4 x 8 `b` of f64 (m8n8k4, twice). Of `b` the lane has row lane % 4 of
/// column lane / 4.
QUARRY_DEVICE void mma(AccumulatorF64& sum, const FragmentF64& a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(sum.v[0]), "+d"(sum.v[1])
               : "d"(a.v[0]), "d"(b));
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(sum.v[2]), "+d"(sum.v[3])
               : "d"(a.v[1]), "d"(b));
}

/// The same for a 16 x 8 `a` and an 8 x 8 `b` (m16n8k8): compute capability 9.0 and later.
QUARRY_DEVICE void mma_k8(AccumulatorF64& sum, const FragmentA8F64& a, const FragmentB8F64& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+d"(sum.v[0]), "+d"(sum.v[1]), "+d"(sum.v[2]), "+d"(sum.v[3])
      : "d"(a.v[0]), "d"(a.v[1]), "d"(a.v[2]), "d"(a.v[3]), "d"(b.v[0]), "d"(b.v[1]));
}

/// The same for a 16 x 16 `a` and a 16 x 8 `b` (m16n8k16): compute capability 9.0 and later.
QUARRY_DEVICE void mma_k16(AccumulatorF64& sum, const WideFragmentA& a, const WideFragmentB& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, "
      "%11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(sum.v[0]), "+d"(sum.v[1]), "+d"(sum.v[2]), "+d"(sum.v[3])
      : "d"(a.v[0]), "d"(a.v[1]), "d"(a.v[2]), "d"(a.v[3]), "d"(a.v[4]), "d"(a.v[5]), "d"(a.v[6]),
        "d"(a.v[7]), "d"(b.v[0]), "d"(b.v[1]), "d"(b.v[2]), "d"(b.v[3]));
}

/// The same with f16 sums; only for f16 operands.
template <class Input>
QUARRY_DEVICE void mma(AccumulatorF16& sum, const MatrixFragment& a, const FragmentB& b);

template <>
QUARRY_DEVICE void mma<F16>(AccumulatorF16& sum, const MatrixFragment& a, const FragmentB& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
      : "+r"(sum.v[0]), "+r"(sum.v[1])
      : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b.v[0]), "r"(b.v[1]));
}

template <class Input>
QUARRY_DEVICE void mma_k8(AccumulatorF16& sum, const FragmentA8& a, unsigned b);

template <>
QUARRY_DEVICE void mma_k8<F16>(AccumulatorF16& sum, const FragmentA8& a, unsigned b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
               : "+r"(sum.v[0]), "+r"(sum.v[1])
               : "r"(a.v[0]), "r"(a.v[1]), "r"(b));
}

/// The two sums of neighbouring columns that this lane holds of row lane / 4 (`half` 0) or lane / 4 + 8
/// (`half` 1).
QUARRY_DEVICE Vector<float, 2> row_pair(const AccumulatorF32& sum, int half) {
  return {sum.v[2 * half], sum.v[2 * half + 1]};
}
QUARRY_DEVICE Vector<int, 2> row_pair(const AccumulatorS32& sum, int half) {
  return {sum.v[2 * half], sum.v[2 * half + 1]};
}
QUARRY_DEVICE Vector<double, 2> row_pair(const AccumulatorF64& sum, int half) {
  return {sum.v[2 * half], sum.v[2 * half + 1]};
}
QUARRY_DEVICE Vector<float, 2> row_pair(const AccumulatorF16& sum, int half) {
  return {to_f32(F16{static_cast<unsigned short>(sum.v[half] & 0xffff)}),
          to_f32(F16{static_cast<unsigned short>(sum.v[half] >> 16)})};
}

}  // namespace quarry::arch
