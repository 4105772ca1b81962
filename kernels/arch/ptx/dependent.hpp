/// Kernels of a stream that overlap: one that is launched as a dependent starts while the one before it still
/// runs (PTX ISA, griddepcontrol). Both functions do nothing in other launches.
#pragma once

#include "arch/ptx/entry.hpp"

namespace quarry::arch {

/// Waits until the kernels before this one have ended and what they wrote is there.
QUARRY_DEVICE void wait_for_earlier_kernels() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/// Lets a dependent kernel start, once all blocks have called it or ended.
QUARRY_DEVICE void let_later_kernels_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

}  // namespace quarry::arch
