#include "lab/code/occupancy.hpp"

#include <algorithm>

namespace quarry::lab {
namespace {

// CUDA C++ Programming Guide, technical specifications of compute capability 8.0 and 9.0.
constexpr int most_blocks = 32;
constexpr int warp = 32;
/// A warp's registers are given out in units of this many.
constexpr int register_unit = 256;
/// Shared memory that the system keeps of each block.
constexpr int reserved_shared_memory = 1024;

constexpr int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

int blocks_per_multiprocessor(const BlockNeeds& block, const DeviceModel& device) {
  if (block.threads <= 0 || block.shared_memory > device.shared_memory_per_block) return 0;
  const int threads = round_up(block.threads, warp);
  int blocks = std::min(most_blocks, device.threads_per_multiprocessor / threads);
  if (block.registers > 0) {
    const int registers = round_up(block.registers * warp, register_unit) * (threads / warp);
    blocks = std::min(blocks, device.registers_per_multiprocessor / registers);
  }
  const int shared_memory = block.shared_memory + reserved_shared_memory;
  return std::min(blocks, device.shared_memory_per_multiprocessor / shared_memory);
}

double occupancy(int blocks, const BlockNeeds& block, const DeviceModel& device) {
  return static_cast<double>(blocks * round_up(block.threads, warp)) / device.threads_per_multiprocessor;
}

}  // namespace quarry::lab
