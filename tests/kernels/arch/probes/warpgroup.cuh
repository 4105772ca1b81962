/// Probes of arch/.../warpgroup.hpp.
#pragma once

#include "arch/sm90.hpp"
#include "tests/kernels/arch/probes/items.cuh"
#include "tests/kernels/arch/warpgroup_layout.hpp"

namespace quarry::probes {

/// Copies the operands' words to shared memory, where matrix instructions read them.
template <Block block>
QUARRY_DEVICE arch::SharedAddress store_operands(const ProbeParams& params) {
  const arch::SharedAddress base = arch::shared_memory();
  for (int i = arch::thread_index(); i < operand_words; i += block.threads) {
    arch::shared_store(base + 4 * i, arch::global_load<unsigned>(params.in + i));
  }
  arch::async_proxy_fence();
  arch::block_barrier();
  return base;
}

/// The descriptor that stands in `in`, of what lies behind the start of shared memory.
QUARRY_DEVICE arch::MatrixDescriptor descriptor(const ProbeParams& params, int word,
                                                arch::SharedAddress base) {
  const auto low = arch::global_load<unsigned>(params.in + word);
  const auto high = arch::global_load<unsigned>(params.in + word + 1);
  return (static_cast<arch::MatrixDescriptor>(high) << 32 | low) + (base.value >> 4);
}

/// Two instructions, as `multiply` starts them, in two groups, the second one on the sums of the first; `out`
/// gets the sums of thread after thread.
template <Block block, class Sums, class Multiply>
QUARRY_DEVICE void show_sums_of(const ProbeParams& params, arch::SharedAddress base, unsigned* out,
                                const Multiply& multiply) {
  const int me = arch::thread_index();
  Sums sums;
  using Sum = decltype(Sums{}.v[0] + 0);
  QUARRY_UNROLL
  for (int i = 0; i < Sums::registers; ++i) {
    sums.v[i] = arch::global_load<Sum>(params.in + sums_at + (me + i) % sum_words);
  }
  const int accumulate = arch::global_load<int>(params.in + accumulate_at);
  const arch::MatrixDescriptor a = descriptor(params, descriptors_at, base);
  const arch::MatrixDescriptor b = descriptor(params, descriptors_at + 2, base);
  const arch::MatrixDescriptor next_a = descriptor(params, descriptors_at + 4, base);
  const arch::MatrixDescriptor next_b = descriptor(params, descriptors_at + 6, base);
  arch::warpgroup_hold(sums);
  arch::warpgroup_fence();
  multiply(sums, a, b, accumulate);
  arch::warpgroup_commit();
  multiply(sums, next_a, next_b, 1);
  arch::warpgroup_commit();
  arch::warpgroup_wait<1>();
  arch::warpgroup_wait<0>();
  arch::warpgroup_hold(sums);
  QUARRY_UNROLL
  for (int i = 0; i < Sums::registers; ++i) arch::global_store(out + me * Sums::registers + i, sums.v[i]);
}

template <Block block, class Input, arch::Major a_major, arch::Major b_major, class Sums>
QUARRY_DEVICE void show_sums(const ProbeParams& params, arch::SharedAddress base, unsigned* out) {
  show_sums_of<block, Sums>(
      params, base, out, [](Sums& sums, arch::MatrixDescriptor a, arch::MatrixDescriptor b, int accumulate) {
        arch::warpgroup_multiply<Input, a_major, b_major>(sums, a, b, accumulate);
      });
}

/// For one N.
template <Block block, class Input, arch::Major a_major, arch::Major b_major, class Sums>
QUARRY_DEVICE void warpgroup_multiply(const ProbeParams& params) {
  show_sums<block, Input, a_major, b_major, Sums>(params, store_operands<block>(params), params.out);
}

/// For one N, of operands that are contiguous along K.
template <Block block, class InputA, class InputB, class Sums>
QUARRY_DEVICE void warpgroup_multiply_along_k(const ProbeParams& params) {
  show_sums_of<block, Sums>(
      params, store_operands<block>(params), params.out,
      [](Sums& sums, arch::MatrixDescriptor a, arch::MatrixDescriptor b, int accumulate) {
        arch::warpgroup_multiply_along_k<InputA, InputB>(sums, a, b, accumulate);
      });
}

/// For each N from `n` to `last`, one after another.
template <Block block, int n, int last>
QUARRY_DEVICE void show_all_n(const ProbeParams& params, arch::SharedAddress base, unsigned* out) {
  using Sums = arch::WarpgroupSumsF32<n>;
  show_sums<block, arch::BF16, arch::Major::k, arch::Major::k, Sums>(params, base, out);
  if constexpr (n < last) show_all_n<block, n + 8, last>(params, base, out + block.threads * Sums::registers);
}

template <Block block, int n, int last>
QUARRY_DEVICE void warpgroup_multiply_n(const ProbeParams& params) {
  show_all_n<block, n, last>(params, store_operands<block>(params), params.out);
}

/// A thread's part of the left operand of one of two instructions: words of what is also shared memory.
template <Block block>
QUARRY_DEVICE arch::MatrixFragment left_fragment(const ProbeParams& params, int instruction) {
  return arch::global_load<arch::MatrixFragment>(params.in +
                                                 4 * (instruction * block.threads + arch::thread_index()));
}

/// For some N, one after another; the left operand in registers.
template <Block block, class Input, int n, int... more>
QUARRY_DEVICE void show_fragment_sums(const ProbeParams& params, arch::SharedAddress base, unsigned* out) {
  using Sums = arch::WarpgroupSumsF32<n>;
  const arch::MatrixFragment a[2] = {left_fragment<block>(params, 0), left_fragment<block>(params, 1)};
  int instruction = 0;
  show_sums_of<block, Sums>(
      params, base, out, [&](Sums& sums, arch::MatrixDescriptor, arch::MatrixDescriptor b, int accumulate) {
        arch::warpgroup_multiply_fragment<Input>(sums, a[instruction], b, accumulate);
        ++instruction;
      });
  if constexpr (sizeof...(more) > 0)
    show_fragment_sums<block, Input, more...>(params, base, out + block.threads * Sums::registers);
}

template <Block block, class Input, int... n>
QUARRY_DEVICE void warpgroup_multiply_fragment(const ProbeParams& params) {
  show_fragment_sums<block, Input, n...>(params, store_operands<block>(params), params.out);
}

/// Registers are given and taken while values are kept in them.
template <WholeMultiprocessor block>
QUARRY_DEVICE void registers(const ProbeParams& params) {
  constexpr int kept = 16;
  const int me = arch::thread_index();
  unsigned words[kept];
  QUARRY_UNROLL
  for (int i = 0; i < kept; ++i) words[i] = arch::global_load<unsigned>(params.in + kept * me + i);
  arch::give_registers<40>();
  arch::block_barrier();
  arch::take_registers<232>();
  QUARRY_UNROLL
  for (int i = 0; i < kept; ++i) arch::global_store(params.out + kept * me + i, words[i] + 1);
}

}  // namespace quarry::probes
