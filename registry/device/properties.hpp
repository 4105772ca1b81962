/// What the driver says of a device, in plain numbers. No CUDA header is needed to include this.
#pragma once

#include <cstdint>

#include "quarry/status.hpp"

namespace quarry::detail {

struct DeviceProperties {
  char name[256] = {};
  int cc = 0;  ///< compute capability as 80 or 90
  int multiprocessors = 0;
  int shared_memory_per_block = 0;  ///< the most that a kernel can ask for, in bytes
  int shared_memory_per_multiprocessor = 0;
  int registers_per_multiprocessor = 0;
  int threads_per_multiprocessor = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  double clock = 0;                  ///< highest, in Hz
  double peak_memory_bandwidth = 0;  ///< bytes a second, by clock and width of the bus
};

/// Asks the driver. no_device where there is no such device, device_error where the driver does not answer.
Result<DeviceProperties> device_properties(int ordinal);

}  // namespace quarry::detail
