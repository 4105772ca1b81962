/// Loads and stores. Values are scalars or Vectors, naturally aligned; each moves in accesses as wide as it
/// is, 16 bytes at most.
#pragma once

#include "arch/ptx/entry.hpp"
#include "arch/types.hpp"

namespace quarry::arch {

/// The machine's own type for an access of so many bytes.
template <int Bytes>
struct Word;
template <>
struct Word<1> {
  using Type = unsigned char;
};
template <>
struct Word<2> {
  using Type = unsigned short;
};
template <>
struct Word<4> {
  using Type = unsigned;
};
template <>
struct Word<8> {
  using Type = uint2;
};
template <>
struct Word<16> {
  using Type = uint4;
};
template <>
struct Word<32> {
  struct Type {
    uint4 low, high;
  };
};
template <class T>
using WordOf = typename Word<sizeof(T)>::Type;

/// First byte of the block's dynamic shared memory, aligned to 1,024 bytes.
QUARRY_DEVICE SharedAddress shared_memory() {
  extern __shared__ __align__(1024) unsigned char quarry_shared_memory[];
  return {static_cast<unsigned>(__cvta_generic_to_shared(quarry_shared_memory))};
}

/// Reads a value from shared memory.
template <class T>
QUARRY_DEVICE T shared_load(SharedAddress from) {
  return __builtin_bit_cast(T, *static_cast<const WordOf<T>*>(__cvta_shared_to_generic(from.value)));
}

/// Writes a value to shared memory.
template <class T>
QUARRY_DEVICE void shared_store(SharedAddress to, const T& value) {
  *static_cast<WordOf<T>*>(__cvta_shared_to_generic(to.value)) = __builtin_bit_cast(WordOf<T>, value);
}

/// Reads a value from global memory.
template <class T>
QUARRY_DEVICE T global_load(const void* from) {
  return __builtin_bit_cast(T, *static_cast<const WordOf<T>*>(from));
}

/// Writes a value to global memory.
template <class T>
QUARRY_DEVICE void global_store(void* to, const T& value) {
  *static_cast<WordOf<T>*>(to) = __builtin_bit_cast(WordOf<T>, value);
}

}  // namespace quarry::arch
