/// How many blocks of a kernel fit on a multiprocessor.
#pragma once

#include "quarry/device_model.hpp"

namespace quarry::lab {

/// What one block needs.
struct BlockNeeds {
  int threads = 0;
  int registers = 0;      ///< of a thread; 0: unknown, and not counted
  int shared_memory = 0;  ///< bytes of dynamic shared memory
};

/// Blocks that fit on one multiprocessor of the device, bounded by threads, registers, shared memory and the
/// number of blocks; 0 where not even one does.
int blocks_per_multiprocessor(const BlockNeeds& block, const DeviceModel& device);

/// The part of a multiprocessor's threads that so many blocks keep, from 0 to 1.
double occupancy(int blocks, const BlockNeeds& block, const DeviceModel& device);

}  // namespace quarry::lab
