/// How threads wait for each other, in a block and between blocks.
#pragma once

#include "arch/ptx/entry.hpp"

namespace quarry::arch {

/// Waits for all threads of the block; what they did to memory before it is seen by all of them after it.
QUARRY_DEVICE void block_barrier() { __syncthreads(); }

/// Waits for `threads` threads of the block (a multiple of 32, by whole warps) that come to barrier `id` (1
/// to 15; block_barrier uses 0), of which some may only arrive. Orders memory as block_barrier does,
/// between these threads (PTX ISA, bar.sync and bar.arrive).
QUARRY_DEVICE void named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Counts as having come to the barrier, and goes on. What this thread did before is seen by those that wait.
QUARRY_DEVICE void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Waits for all lanes of the warp, and orders memory between them.
QUARRY_DEVICE void warp_barrier() { __syncwarp(); }

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
