/// How threads wait for each other, in a block and between blocks.
#pragma once

#include "arch/ptx/entry.hpp"

namespace quarry::arch {

/// Waits for all threads of the block; what they did to memory before it is seen by all of them after it.
QUARRY_DEVICE void block_barrier() { __syncthreads(); }

/// Orders this thread's accesses before it, and those that a barrier has ordered before them, ahead of its
/// accesses after it, for every thread of the device.
QUARRY_DEVICE void device_fence() { __threadfence(); }

/// Reads a counter that another block sets with store_release; what that block did before is seen after.
QUARRY_DEVICE int load_acquire(const int* from) {
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  return value;
}

/// Sets a counter that another block reads with load_acquire.
QUARRY_DEVICE void store_release(int* to, int value) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(value)
               : "memory");
}

/// Adds to a counter that blocks share, answers what it was before. Orders nothing else.
QUARRY_DEVICE int fetch_add(int* to, int value) { return atomicAdd(to, value); }

}  // namespace quarry::arch
