/// Probes of arch/.../matrix.hpp.
#pragma once

#include "tests/kernels/arch/probes/items.cuh"

namespace quarry::probes {

/// Lines of 16 bytes that matrices are loaded from.
inline constexpr int matrix_lines = 64;

/// `in`: the lines, then the line that each thread names. `out`: four words a thread.
template <Block block, class Load>
QUARRY_DEVICE void show_matrices(const ProbeParams& params, Load load) {
  constexpr int words = 4 * matrix_lines;
  const arch::SharedAddress base = arch::shared_memory();
  const int me = arch::thread_index();
  for (int i = me; i < words; i += block.threads) {
    arch::shared_store(base + 4 * i, arch::global_load<unsigned>(params.in + i));
  }
  arch::block_barrier();
  const int line = arch::global_load<int>(params.in + words + me);
  const arch::MatrixFragment fragment = load(base + 16 * line);
  arch::global_store(params.out + 4 * me, fragment);
}

template <Block block>
QUARRY_DEVICE void load_matrix_x4(const ProbeParams& params) {
  show_matrices<block>(params, [](arch::SharedAddress line) { return arch::load_matrix_x4(line); });
}

template <Block block>
QUARRY_DEVICE void load_matrix_x4_transposed(const ProbeParams& params) {
  show_matrices<block>(params,
                       [](arch::SharedAddress line) { return arch::load_matrix_x4_transposed(line); });
}

/// What a thread has of a multiplication.
template <class Sums>
struct Operands {
  arch::MatrixFragment a;
  arch::FragmentB b;
  Sums sums;
};

/// One multiplication a warp, by `multiply`: of each thread `in` holds the words of its fragments of A, B and
/// the sums, and `out` gets the bits of the sums.
template <Block block, class Sums, class Multiply>
QUARRY_DEVICE void multiply_fragments(const ProbeParams& params, Multiply multiply) {
  constexpr int sum_words = sizeof(Sums) / 4;
  const int me = global_thread<block>();
  const unsigned* const in = params.in + me * (4 + 2 + sum_words);
  Operands<Sums> o;
  QUARRY_UNROLL
  for (int i = 0; i < 4; ++i) o.a.v[i] = arch::global_load<unsigned>(in + i);
  QUARRY_UNROLL
  for (int i = 0; i < 2; ++i) o.b.v[i] = arch::global_load<unsigned>(in + 4 + i);
  using Sum = decltype(Sums{}.v[0] + 0);
  QUARRY_UNROLL
  for (int i = 0; i < sum_words; ++i) o.sums.v[i] = arch::global_load<Sum>(in + 6 + i);
  multiply(o);
  QUARRY_UNROLL
  for (int i = 0; i < sum_words; ++i) arch::global_store(params.out + me * sum_words + i, o.sums.v[i]);
}

template <Block block, class Input, class Sums>
QUARRY_DEVICE void multiply(const ProbeParams& params) {
  multiply_fragments<block, Sums>(params, [](Operands<Sums>& o) { arch::mma<Input>(o.sums, o.a, o.b); });
}

template <Block block>
QUARRY_DEVICE void mma_f16_f32(const ProbeParams& params) {
  multiply<block, arch::F16, arch::AccumulatorF32>(params);
}

template <Block block>
QUARRY_DEVICE void mma_bf16_f32(const ProbeParams& params) {
  multiply<block, arch::BF16, arch::AccumulatorF32>(params);
}

template <Block block>
QUARRY_DEVICE void mma_f16_f16(const ProbeParams& params) {
  multiply<block, arch::F16, arch::AccumulatorF16>(params);
}

template <Block block>
QUARRY_DEVICE void mma_tf32_f32(const ProbeParams& params) {
  multiply<block, arch::TF32, arch::AccumulatorF32>(params);
}

/// One multiplication of half the K: of the fragments, the first halves.
template <Block block, class Input, class Sums>
QUARRY_DEVICE void multiply_k8(const ProbeParams& params) {
  multiply_fragments<block, Sums>(params, [](Operands<Sums>& o) {
    arch::mma_k8<Input>(o.sums, arch::FragmentA8{o.a.v[0], o.a.v[1]}, o.b.v[0]);
  });
}

template <Block block>
QUARRY_DEVICE void mma_k8_f16_f32(const ProbeParams& params) {
  multiply_k8<block, arch::F16, arch::AccumulatorF32>(params);
}
template <Block block>
QUARRY_DEVICE void mma_k8_bf16_f32(const ProbeParams& params) {
  multiply_k8<block, arch::BF16, arch::AccumulatorF32>(params);
}
template <Block block>
QUARRY_DEVICE void mma_k8_f16_f16(const ProbeParams& params) {
  multiply_k8<block, arch::F16, arch::AccumulatorF16>(params);
}

/// The same of bytes; the sums go through their pairs, which are the same in the same order.
template <Block block, class A, class B>
QUARRY_DEVICE void multiply_bytes(const ProbeParams& params) {
  using Sums = arch::AccumulatorS32;
  multiply_fragments<block, Sums>(params, [](Operands<Sums>& o) {
    arch::mma<A, B>(o.sums, o.a, o.b);
    const arch::Vector<int, 2> pairs[] = {arch::row_pair(o.sums, 0), arch::row_pair(o.sums, 1)};
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) o.sums.v[i] = pairs[i / 2].v[i % 2];
  });
}

template <Block block>
QUARRY_DEVICE void mma_s8_s8(const ProbeParams& params) {
  multiply_bytes<block, arch::S8x4, arch::S8x4>(params);
}
template <Block block>
QUARRY_DEVICE void mma_s8_u8(const ProbeParams& params) {
  multiply_bytes<block, arch::S8x4, arch::U8x4>(params);
}
template <Block block>
QUARRY_DEVICE void mma_u8_s8(const ProbeParams& params) {
  multiply_bytes<block, arch::U8x4, arch::S8x4>(params);
}
template <Block block>
QUARRY_DEVICE void mma_u8_u8(const ProbeParams& params) {
  multiply_bytes<block, arch::U8x4, arch::U8x4>(params);
}

/// The same of f64: two of A, one of B, four sums.
template <Block block>
QUARRY_DEVICE void mma_f64(const ProbeParams& params) {
  const int me = global_thread<block>();
  const auto* const in = reinterpret_cast<const double*>(params.in) + 7 * me;
  auto* const out = reinterpret_cast<double*>(params.out) + 4 * me;
  const arch::FragmentF64 a = {arch::global_load<double>(in), arch::global_load<double>(in + 1)};
  arch::AccumulatorF64 sums;
  QUARRY_UNROLL
  for (int i = 0; i < 4; ++i) sums.v[i] = arch::global_load<double>(in + 3 + i);
  arch::mma(sums, a, arch::global_load<double>(in + 2));
  QUARRY_UNROLL
  for (int half = 0; half < 2; ++half) arch::global_store(out + 2 * half, arch::row_pair(sums, half));
}

/// f64, longer along K: twice `steps` of A, `steps` of B, four sums.
template <Block block, int steps>
QUARRY_DEVICE void multiply_f64(const ProbeParams& params) {
  const int me = global_thread<block>();
  const auto* const in = reinterpret_cast<const double*>(params.in) + (3 * steps + 4) * me;
  auto* const out = reinterpret_cast<double*>(params.out) + 4 * me;
  arch::Vector<double, 2 * steps> a;
  arch::Vector<double, steps> b;
  arch::AccumulatorF64 sums;
  QUARRY_UNROLL
  for (int i = 0; i < 2 * steps; ++i) a.v[i] = arch::global_load<double>(in + i);
  QUARRY_UNROLL
  for (int i = 0; i < steps; ++i) b.v[i] = arch::global_load<double>(in + 2 * steps + i);
  QUARRY_UNROLL
  for (int i = 0; i < 4; ++i) sums.v[i] = arch::global_load<double>(in + 3 * steps + i);
  if constexpr (steps == 4)
    arch::mma_k16(sums, a, b);
  else
    arch::mma_k8(sums, a, b);
  QUARRY_UNROLL
  for (int half = 0; half < 2; ++half) arch::global_store(out + 2 * half, arch::row_pair(sums, half));
}

template <Block block>
QUARRY_DEVICE void mma_f64_k8(const ProbeParams& params) {
  multiply_f64<block, 2>(params);
}
template <Block block>
QUARRY_DEVICE void mma_f64_k16(const ProbeParams& params) {
  multiply_f64<block, 4>(params);
}

/// `in`: four words a thread, the sums in f32, of which the first two are also taken for sums in f16. `out`:
/// the pairs of rows 0 and 1, of both.
template <Block block>
QUARRY_DEVICE void row_pair(const ProbeParams& params) {
  const int me = global_thread<block>();
  arch::AccumulatorF32 wide;
  arch::AccumulatorF16 narrow;
  QUARRY_UNROLL
  for (int i = 0; i < 4; ++i) wide.v[i] = arch::global_load<float>(params.in + 4 * me + i);
  QUARRY_UNROLL
  for (int i = 0; i < 2; ++i) narrow.v[i] = arch::global_load<unsigned>(params.in + 4 * me + i);
  QUARRY_UNROLL
  for (int half = 0; half < 2; ++half) {
    arch::global_store(params.out + 8 * me + 2 * half, arch::row_pair(wide, half));
    arch::global_store(params.out + 8 * me + 4 + 2 * half, arch::row_pair(narrow, half));
  }
}

}  // namespace quarry::probes
