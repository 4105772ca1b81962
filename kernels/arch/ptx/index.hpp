/// Who a thread is.
#pragma once

#include "arch/ptx/entry.hpp"

namespace quarry::arch {

/// Index of the block in its one-dimensional grid.
QUARRY_DEVICE unsigned block_index() { return blockIdx.x; }

/// Blocks of that grid.
QUARRY_DEVICE unsigned grid_blocks() { return gridDim.x; }

/// Index of the thread in its one-dimensional block.
QUARRY_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }

/// Index of the warp in its block. Read from lane 0, which tells the compiler that it is the same for the
/// whole warp.
QUARRY_DEVICE int warp_index() { return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0); }

/// Index of the thread in its warp.
QUARRY_DEVICE int lane_index() { return static_cast<int>(threadIdx.x) % 32; }

}  // namespace quarry::arch
