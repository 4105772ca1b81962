/// Probes of arch/.../copy_async.hpp.
#pragma once

#include "tests/kernels/arch/probes/memory.cuh"

namespace quarry::probes {

/// Runs one copy of `Bytes` a thread into memory that held ones, then shows all of it; answers where the next
/// section begins, of `in` and `out` alike. `copy(to, from)` starts the thread's copy.
template <int Bytes, Block block, class Copy>
QUARRY_DEVICE int show_copies(const ProbeParams& params, int section, Copy copy) {
  const arch::SharedAddress base = arch::shared_memory();
  constexpr int words = block.threads * Bytes / 4;
  for (int i = arch::thread_index(); i < words; i += block.threads) arch::shared_store(base + 4 * i, ~0u);
  arch::block_barrier();
  copy(base + scattered_slot<block>() * Bytes, params.in + section + arch::thread_index() * (Bytes / 4));
  arch::copy_async_commit();
  arch::copy_async_wait<0>();
  arch::block_barrier();
  for (int i = arch::thread_index(); i < words; i += block.threads) {
    arch::global_store(params.out + section + i, arch::shared_load<unsigned>(base + 4 * i));
  }
  arch::block_barrier();
  return section + words;
}

/// Thread t copies t % (Bytes + 1) valid bytes; where that number is 0, from an address that cannot be read.
template <int Bytes, Block block>
QUARRY_DEVICE int show_partial_copies(const ProbeParams& params, int section) {
  return show_copies<Bytes, block>(params, section, [](arch::SharedAddress to, const unsigned* from) {
    const int valid = arch::thread_index() % (Bytes + 1);
    arch::copy_async<Bytes>(to, valid == 0 ? nullptr : from, valid);
  });
}

template <Block block>
QUARRY_DEVICE void copy_async(const ProbeParams& params) {
  int section = show_partial_copies<4, block>(params, 0);
  section = show_partial_copies<8, block>(params, section);
  show_partial_copies<16, block>(params, section);
}

/// A copy where the thread's word of `present`, the words behind the sections, is not 0.
template <int Bytes, Block block>
QUARRY_DEVICE int show_copies_or_zeros(const ProbeParams& params, int section, const unsigned* present) {
  const unsigned mine = arch::global_load<unsigned>(present + arch::thread_index());
  return show_copies<Bytes, block>(params, section, [mine](arch::SharedAddress to, const unsigned* from) {
    arch::copy_async_or_zero<Bytes>(to, mine == 0 ? nullptr : from, mine);
  });
}

template <Block block>
QUARRY_DEVICE void copy_async_or_zero(const ProbeParams& params) {
  const unsigned* const present = params.in + block.threads * (1 + 2 + 4);
  int section = show_copies_or_zeros<4, block>(params, 0, present);
  section = show_copies_or_zeros<8, block>(params, section, present + block.threads);
  show_copies_or_zeros<16, block>(params, section, present + 2 * block.threads);
}

/// Stores `N` words of shared memory at `out`.
template <int N>
QUARRY_DEVICE void show_words(unsigned* out, arch::SharedAddress from) {
  for (int i = 0; i < N; ++i) arch::global_store(out + i, arch::shared_load<unsigned>(from + 4 * i));
}

/// Groups of one, two and no copies, waited for one after the other. The thread that waited reads its own
/// copies at once, the copies of another after a barrier.
template <Block block>
QUARRY_DEVICE void copy_async_groups(const ProbeParams& params) {
  constexpr int in_words = 16;
  constexpr int out_words = 15;
  const int me = arch::thread_index();
  const arch::SharedAddress base = arch::shared_memory();
  const arch::SharedAddress mine = base + in_words * 4 * me;
  const unsigned* const in = params.in + in_words * me;
  unsigned* const out = params.out + out_words * me;

  arch::copy_async<16>(mine, in, 16);
  arch::copy_async_commit();
  arch::copy_async<8>(mine + 16, in + 4, 8);
  arch::copy_async<4>(mine + 24, in + 6, 4);
  arch::copy_async_commit();
  arch::copy_async_commit();
  arch::copy_async<16>(mine + 32, in + 8, 16);
  arch::copy_async_commit();

  arch::copy_async_wait<3>();
  show_words<4>(out, mine);
  arch::copy_async_wait<1>();
  show_words<3>(out + 4, mine + 16);
  arch::copy_async<16>(mine, in + 12, 16);
  arch::copy_async_commit();
  arch::copy_async_wait<0>();
  arch::block_barrier();
  const arch::SharedAddress other = base + in_words * 4 * (block.threads - 1 - me);
  show_words<4>(out + 7, other + 32);
  show_words<4>(out + 11, other);
}

}  // namespace quarry::probes
