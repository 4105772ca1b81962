/// What the functions that threads call have in common: who accesses, and what happens where that is a fault.
#pragma once

#include <string>

#include "emulator/block.hpp"

namespace quarry::emulator {

Accessor on_shared(Thread& thread);
Accessor on_global(Thread& thread);

/// Ends the block where there is a fault. One that is not a race gets who did it, and where, around it. Does
/// not return then, so that nothing which owns memory may live where this is called.
void check(Thread& thread, std::string fault, const Site& site);

/// Ends the block where the thread may not touch global memory yet, as earlier kernels may still run.
void check_earlier_kernels(Thread& thread, const Site& site);

/// The block `rank` of the running thread's cluster, whose shared memory it is about to use. Ends the block
/// where there is none, or it has ended.
Block& peer(int rank, AccessKind kind, const Site& site);

/// Whether a copy that the thread starts lands at once.
bool lands_early(Thread& thread);

}  // namespace quarry::emulator
