/// Barriers in shared memory whose phases end when so many threads have arrived and so many bytes of copies
/// have landed (PTX ISA, mbarrier). A barrier takes 8 bytes, aligned to 8. Its first phase has parity 0.
#pragma once

#include "arch/ptx/entry.hpp"
#include "arch/types_sm90.hpp"

namespace quarry::arch {

/// Makes a barrier whose phases need so many arrivals. By one thread, before any other uses it.
QUARRY_DEVICE void mbarrier_init(SharedAddress barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier.value), "r"(arrivals) : "memory");
}

/// Makes this thread's barriers known to the cluster's blocks and to copies; a barrier of the block, or the
/// cluster, must follow before others use them.
QUARRY_DEVICE void mbarrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Arrives; what this thread did before is seen by those that wait for the phase.
QUARRY_DEVICE void mbarrier_arrive(SharedAddress barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier.value) : "memory");
}

/// Arrives, and lets the phase wait for `bytes` bytes of copies more.
QUARRY_DEVICE void mbarrier_arrive_expect(SharedAddress barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier.value),
               "r"(bytes)
               : "memory");
}

/// Arrives when all copies to shared memory that this thread has started (copy_async) have landed: who waits
/// for the phase sees them. The thread goes on at once. Of its ordinary writes the arrival says nothing (PTX
/// ISA, cp.async.mbarrier.arrive).
QUARRY_DEVICE void mbarrier_arrive_copied(SharedAddress barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier.value) : "memory");
}

/// Arrives at the barrier that lies in block `rank` of the cluster as `barrier` does in this one: says that
/// this warp has read what copies of that block may overwrite. Of ordinary writes to memory it says nothing;
/// that would take a fence of the whole device, as long as a stage's multiplications.
QUARRY_DEVICE void mbarrier_arrive_at(SharedAddress barrier, int rank) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.release.cta.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier.value),
      "r"(rank)
      : "memory");
}

/// Waits until the barrier's phase of this parity has ended: at once if the current phase has the other
/// parity.
QUARRY_DEVICE void mbarrier_wait(SharedAddress barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
      "@done bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(barrier.value),
      "r"(parity)
      : "memory");
}

}  // namespace quarry::arch
