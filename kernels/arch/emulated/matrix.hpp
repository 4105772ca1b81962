/// Matrices; see arch/ptx/matrix.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "arch/emulated/number.hpp"
#include "arch/types.hpp"
#include "emulator/device.hpp"

namespace quarry::arch {

QUARRY_DEVICE MatrixFragment load_matrix_x4(SharedAddress line,
                                            const emulator::Site& site = emulator::Site::current()) {
  MatrixFragment f;
  emulator::load_matrix(line.value, false, f.v, site);
  return f;
}

QUARRY_DEVICE MatrixFragment
load_matrix_x4_transposed(SharedAddress line, const emulator::Site& site = emulator::Site::current()) {
  MatrixFragment f;
  emulator::load_matrix(line.value, true, f.v, site);
  return f;
}

template <class Input>
QUARRY_DEVICE void mma(AccumulatorF32& sum, const MatrixFragment& a, const FragmentB& b,
                       const emulator::Site& site = emulator::Site::current());

template <>
QUARRY_DEVICE void mma<F16>(AccumulatorF32& sum, const MatrixFragment& a, const FragmentB& b,
                            const emulator::Site& site) {
  emulator::multiply_f16_f32(sum.v, a.v, b.v, site);
}

template <>
QUARRY_DEVICE void mma<BF16>(AccumulatorF32& sum, const MatrixFragment& a, const FragmentB& b,
                             const emulator::Site& site) {
  emulator::multiply_bf16_f32(sum.v, a.v, b.v, site);
}

template <>
QUARRY_DEVICE void mma<TF32>(AccumulatorF32& sum, const MatrixFragment& a, const FragmentB& b,
                             const emulator::Site& site) {
  emulator::multiply_tf32_f32(sum.v, a.v, b.v, site);
}

template <class A, class B>
QUARRY_DEVICE void mma(AccumulatorS32& sum, const MatrixFragment& a, const FragmentB& b,
                       const emulator::Site& site = emulator::Site::current());

template <>
QUARRY_DEVICE void mma<S8x4, S8x4>(AccumulatorS32& sum, const MatrixFragment& a, const FragmentB& b,
                                   const emulator::Site& site) {
  emulator::multiply_bytes(emulator::Bytes::s8_s8, sum.v, a.v, b.v, site);
}

template <>
QUARRY_DEVICE void mma<S8x4, U8x4>(AccumulatorS32& sum, const MatrixFragment& a, const FragmentB& b,
                                   const emulator::Site& site) {
  emulator::multiply_bytes(emulator::Bytes::s8_u8, sum.v, a.v, b.v, site);
}

template <>
QUARRY_DEVICE void mma<U8x4, S8x4>(AccumulatorS32& sum, const MatrixFragment& a, const FragmentB& b,
                                   const emulator::Site& site) {
  emulator::multiply_bytes(emulator::Bytes::u8_s8, sum.v, a.v, b.v, site);
}

template <>
QUARRY_DEVICE void mma<U8x4, U8x4>(AccumulatorS32& sum, const MatrixFragment& a, const FragmentB& b,
                                   const emulator::Site& site) {
  emulator::multiply_bytes(emulator::Bytes::u8_u8, sum.v, a.v, b.v, site);
}

QUARRY_DEVICE void mma(AccumulatorF64& sum, const FragmentF64& a, double b,
                       const emulator::Site& site = emulator::Site::current()) {
  emulator::multiply_f64(sum.v, a.v, b, site);
}

QUARRY_DEVICE void mma_k8(AccumulatorF64& sum, const FragmentA8F64& a, const FragmentB8F64& b,
                          const emulator::Site& site = emulator::Site::current()) {
  emulator::multiply_f64_k8(sum.v, a.v, b.v, site);
}

QUARRY_DEVICE void mma_k16(AccumulatorF64& sum, const WideFragmentA& a, const WideFragmentB& b,
                           const emulator::Site& site = emulator::Site::current()) {
  emulator::multiply_f64_k16(sum.v, a.v, b.v, site);
}

template <class Input>
QUARRY_DEVICE void mma_k8(AccumulatorF32& sum, const FragmentA8& a, unsigned b,
                          const emulator::Site& site = emulator::Site::current());

template <>
QUARRY_DEVICE void mma_k8<F16>(AccumulatorF32& sum, const FragmentA8& a, unsigned b,
                               const emulator::Site& site) {
  emulator::multiply_f16_f32_k8(sum.v, a.v, b, site);
}

template <>
QUARRY_DEVICE void mma_k8<BF16>(AccumulatorF32& sum, const FragmentA8& a, unsigned b,
                                const emulator::Site& site) {
  emulator::multiply_bf16_f32_k8(sum.v, a.v, b, site);
}

template <class Input>
QUARRY_DEVICE void mma_k8(AccumulatorF16& sum, const FragmentA8& a, unsigned b,
                          const emulator::Site& site = emulator::Site::current());

template <>
QUARRY_DEVICE void mma_k8<F16>(AccumulatorF16& sum, const FragmentA8& a, unsigned b,
                               const emulator::Site& site) {
  emulator::multiply_f16_f16_k8(sum.v, a.v, b, site);
}

template <class Input>
QUARRY_DEVICE void mma(AccumulatorF16& sum, const MatrixFragment& a, const FragmentB& b,
                       const emulator::Site& site = emulator::Site::current());

template <>
QUARRY_DEVICE void mma<F16>(AccumulatorF16& sum, const MatrixFragment& a, const FragmentB& b,
                            const emulator::Site& site) {
  emulator::multiply_f16_f16(sum.v, a.v, b.v, site);
}

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
