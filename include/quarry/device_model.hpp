/// What ranking needs to know of a device, as a value, so that kernels can be ranked for a device that is not
/// there.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "quarry/status.hpp"

namespace quarry {

struct DeviceModel {
  /// Short name: "a100", "h100", "h200", or the driver's name of a real device (at most 63 bytes).
  char name[64] = {};
  /// Compute capability as 80 or 90.
  int cc = 0;
  int multiprocessors = 0;
  /// Bytes of shared memory that one block may have, and that one multiprocessor has for all its blocks.
  int shared_memory_per_block = 0;
  int shared_memory_per_multiprocessor = 0;
  int registers_per_multiprocessor = 65536;
  int threads_per_multiprocessor = 2048;
  std::int64_t l2_bytes = 0;
  /// Bytes a second from device memory, as measured or as the data sheet says.
  double memory_bandwidth = 0;
  /// Clock under load, in Hz.
  double clock = 0;
  /// Floating-point operations a clock and multiprocessor: f16 and bf16 through mma.sync, f32 and f64 FMA.
  double tensor_flops_per_clock = 0;
  double fma_f32_flops_per_clock = 0;
  double fma_f64_flops_per_clock = 0;
};

/// The built-in models: A100, H100 and H200 in their SXM form.
std::span<const DeviceModel> device_models();

/// A built-in model by name. Unknown: not_found, with the names there are.
Result<DeviceModel> find_device_model(std::string_view name);

/// The model of CUDA device `device` of this machine; no_device when there is no such device or no driver.
Result<DeviceModel> device_model(int device);

/// The model used when nobody names one: CUDA device 0 where there is one, the H200 otherwise.
const DeviceModel& default_device_model();

}  // namespace quarry
