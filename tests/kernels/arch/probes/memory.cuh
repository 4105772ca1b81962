/// Probes of arch/.../memory.hpp. What was written element by element is read as vectors, and the other way
/// round, so that no mistake of one undoes a mistake of the other.
#pragma once

#include "tests/kernels/arch/probes/items.cuh"

namespace quarry::probes {

/// The rest of shared_memory()'s address above a multiple of 128, and that all of it can be used.
template <Block block>
QUARRY_DEVICE void shared_memory(const ProbeParams& params) {
  const arch::SharedAddress base = arch::shared_memory();
  const int me = arch::thread_index();
  arch::shared_store(base + 4 * me, arch::global_load<unsigned>(params.in + me));
  arch::block_barrier();
  const int other = block.threads - 1 - me;
  arch::global_store(params.out + me, arch::shared_load<unsigned>(base + 4 * other));
  if (me == 0) arch::global_store(params.out + block.threads, base.value % 128);
}

/// The vector that a thread moves, so that neighbours do not move neighbours.
template <Block block>
QUARRY_DEVICE int scattered_slot() {
  return (5 * arch::thread_index() + 3) % block.threads;
}

/// Moves through shared memory; answers where the next section of `in` begins. A section of N elements of
/// type E for each thread becomes two of `out`.
template <class E, int N, Block block>
QUARRY_DEVICE int move_through_shared(const ProbeParams& params, int section) {
  using Values = arch::Vector<E, N>;
  constexpr int size = sizeof(Values);
  constexpr int element = sizeof(E);
  const arch::SharedAddress base = arch::shared_memory();
  const int mine = arch::thread_index() * size;
  const int scattered = scattered_slot<block>() * size;
  const char* const in = reinterpret_cast<const char*>(params.in) + section;
  char* const out = reinterpret_cast<char*>(params.out) + 2 * section;

  for (int i = 0; i < N; ++i) {
    arch::shared_store(base + (mine + i * element), arch::global_load<E>(in + mine + i * element));
  }
  arch::block_barrier();
  const Values loaded = arch::shared_load<Values>(base + scattered);
  QUARRY_UNROLL
  for (int i = 0; i < N; ++i) arch::global_store(out + mine + i * element, loaded.v[i]);
  arch::block_barrier();

  Values stored;
  QUARRY_UNROLL
  for (int i = 0; i < N; ++i) stored.v[i] = arch::global_load<E>(in + mine + i * element);
  arch::shared_store(base + scattered, stored);
  arch::block_barrier();
  for (int i = 0; i < N; ++i) {
    arch::global_store(out + block.threads * size + mine + i * element,
                       arch::shared_load<E>(base + (mine + i * element)));
  }
  arch::block_barrier();
  return section + block.threads * size;
}

template <Block block>
QUARRY_DEVICE void shared_words(const ProbeParams& params) {
  int section = move_through_shared<unsigned, 8, block>(params, 0);
  section = move_through_shared<unsigned, 4, block>(params, section);
  section = move_through_shared<unsigned, 2, block>(params, section);
  section = move_through_shared<unsigned, 1, block>(params, section);
  section = move_through_shared<unsigned short, 8, block>(params, section);
  section = move_through_shared<unsigned short, 4, block>(params, section);
  section = move_through_shared<unsigned short, 2, block>(params, section);
  move_through_shared<unsigned short, 1, block>(params, section);
}

/// 1 to 8 bytes.
template <Block block>
QUARRY_DEVICE void shared_bytes(const ProbeParams& params) {
  int section = move_through_shared<unsigned char, 8, block>(params, 0);
  section = move_through_shared<unsigned char, 4, block>(params, section);
  section = move_through_shared<unsigned char, 2, block>(params, section);
  move_through_shared<unsigned char, 1, block>(params, section);
}

/// The same from global memory to global memory.
template <class E, int N, Block block>
QUARRY_DEVICE int move_through_registers(const ProbeParams& params, int section) {
  using Values = arch::Vector<E, N>;
  constexpr int size = sizeof(Values);
  constexpr int element = sizeof(E);
  const int mine = arch::thread_index() * size;
  const int scattered = scattered_slot<block>() * size;
  const char* const in = reinterpret_cast<const char*>(params.in) + section;
  char* const out = reinterpret_cast<char*>(params.out) + 2 * section;

  const Values loaded = arch::global_load<Values>(in + scattered);
  QUARRY_UNROLL
  for (int i = 0; i < N; ++i) arch::global_store(out + mine + i * element, loaded.v[i]);

  Values stored;
  QUARRY_UNROLL
  for (int i = 0; i < N; ++i) stored.v[i] = arch::global_load<E>(in + mine + i * element);
  arch::global_store(out + block.threads * size + scattered, stored);
  return section + block.threads * size;
}

/// All widths.
template <Block block>
QUARRY_DEVICE void global_words(const ProbeParams& params) {
  int section = move_through_registers<unsigned, 8, block>(params, 0);
  section = move_through_registers<unsigned, 4, block>(params, section);
  section = move_through_registers<unsigned, 2, block>(params, section);
  section = move_through_registers<unsigned, 1, block>(params, section);
  section = move_through_registers<unsigned short, 8, block>(params, section);
  section = move_through_registers<unsigned short, 4, block>(params, section);
  section = move_through_registers<unsigned short, 2, block>(params, section);
  move_through_registers<unsigned short, 1, block>(params, section);
}

/// 1 to 8 bytes.
template <Block block>
QUARRY_DEVICE void global_bytes(const ProbeParams& params) {
  int section = move_through_registers<unsigned char, 8, block>(params, 0);
  section = move_through_registers<unsigned char, 4, block>(params, section);
  section = move_through_registers<unsigned char, 2, block>(params, section);
  move_through_registers<unsigned char, 1, block>(params, section);
}

}  // namespace quarry::probes
