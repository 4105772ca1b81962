/// The seam to the hardware. Everything above kernels/arch/ is plain C++ over the functions that this header
/// brings:
///
///   entry.hpp       QUARRY_ENTRY, QUARRY_DEVICE, QUARRY_UNROLL, QUARRY_ROLLED
///   types.hpp       Vector, SharedAddress, F16, BF16, fragments and accumulators of matrix instructions
///   index.hpp       block_index, grid_blocks, thread_index, warp_index, lane_index
///   memory.hpp      shared_memory, shared_load, shared_store, global_load, global_store
///   copy_async.hpp  copy_async, copy_async_or_zero, copy_async_commit, copy_async_wait
///   barrier.hpp     block_barrier, named_barrier, named_barrier_arrive, warp_barrier, load_acquire,
///                   store_release, fetch_add
///   matrix.hpp      load_matrix_x4, load_matrix_x4_transposed, mma, row_pair
///   warp.hpp        shuffle, first_lane
///   number.hpp      conversions, fma, exp2 and reciprocal approximations, f64 functions
///
/// There are two implementations with these names: `ptx` is the hardware, `emulated` runs a kernel's own
/// source on the CPU and watches every access. So nothing above may reach memory, a barrier or an index in
/// another way.
#pragma once

#ifdef QUARRY_EMULATED
#include "arch/emulated/arch.hpp"
#else
#include "arch/ptx/arch.hpp"
#endif
