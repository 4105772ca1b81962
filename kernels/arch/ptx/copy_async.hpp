/// Copies from global to shared memory that run beside the thread which started them (cp.async).
#pragma once

#include "arch/ptx/entry.hpp"
#include "arch/types.hpp"

namespace quarry::arch {

/// Starts a copy of `Bytes` (4, 8 or 16; both addresses aligned to it), of which the first `valid_bytes` are
/// read and the rest become zero. With 0 valid bytes nothing is read. Copies of 16 bytes bypass the L1 cache,
/// the others cannot.
template <int Bytes>
QUARRY_DEVICE void copy_async(SharedAddress to, const void* from, int valid_bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async moves 4, 8 or 16 bytes");
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to.value),
                 "l"(__cvta_generic_to_global(from)), "r"(valid_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(to.value),
                 "l"(__cvta_generic_to_global(from)), "n"(Bytes), "r"(valid_bytes)
                 : "memory");
  }
}

/// Starts a copy of `Bytes`, or where `present` is 0 reads nothing and writes as many zeros. (A word, not a
/// bool: one bit of a mask becomes a predicate in one instruction.)
template <int Bytes>
QUARRY_DEVICE void copy_async_or_zero(SharedAddress to, const void* from, unsigned present) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async moves 4, 8 or 16 bytes");
  if constexpr (Bytes == 16) {
    asm volatile(
        "{\n.reg .pred absent;\nsetp.eq.u32 absent, %2, 0;\n"
        "cp.async.cg.shared.global.L2::128B [%0], [%1], 16, absent;\n}" ::"r"(to.value),
        "l"(__cvta_generic_to_global(from)), "r"(present)
        : "memory");
  } else {
    asm volatile(
        "{\n.reg .pred absent;\nsetp.eq.u32 absent, %3, 0;\n"
        "cp.async.ca.shared.global.L2::128B [%0], [%1], %2, absent;\n}" ::"r"(to.value),
        "l"(__cvta_generic_to_global(from)), "n"(Bytes), "r"(present)
        : "memory");
  }
}

/// Closes the group of copies that this thread has started since the last commit; an empty group counts too.
QUARRY_DEVICE void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most the `Pending` youngest groups of this thread are under way. Other threads see the
/// copied bytes only after a barrier.
template <int Pending>
QUARRY_DEVICE void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

}  // namespace quarry::arch
