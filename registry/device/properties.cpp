#include "registry/device/properties.hpp"

#include <cuda_runtime_api.h>

#include <cstdio>

#include "registry/device/cuda_call.hpp"
#include "registry/device/runtime.hpp"

namespace quarry::detail {

Result<DeviceProperties> device_properties(int ordinal) {
  if (Status status = device_status(ordinal); !status) return status;
  cudaDeviceProp cuda = {};
  if (Status status = cuda_status(cudaGetDeviceProperties(&cuda, ordinal), "read the device's properties");
      !status) {
    return status;
  }
  // Clocks are no part of cudaDeviceProp since CUDA 13. Where they are unknown, a middling one serves.
  const auto hertz = [ordinal](cudaDeviceAttr attribute, double otherwise) {
    int kilohertz = 0;
    if (cudaDeviceGetAttribute(&kilohertz, attribute, ordinal) != cudaSuccess) (void)cudaGetLastError();
    return kilohertz > 0 ? 1e3 * kilohertz : otherwise;
  };
  DeviceProperties p;
  std::snprintf(p.name, sizeof p.name, "%s", cuda.name);
  p.cc = 10 * cuda.major + cuda.minor;
  p.multiprocessors = cuda.multiProcessorCount;
  p.shared_memory_per_block = static_cast<int>(cuda.sharedMemPerBlockOptin);
  p.shared_memory_per_multiprocessor = static_cast<int>(cuda.sharedMemPerMultiprocessor);
  p.registers_per_multiprocessor = cuda.regsPerMultiprocessor;
  p.threads_per_multiprocessor = cuda.maxThreadsPerMultiProcessor;
  p.l2_bytes = cuda.l2CacheSize;
  p.memory_bytes = static_cast<std::int64_t>(cuda.totalGlobalMem);
  p.clock = hertz(cudaDevAttrClockRate, 1.5e9);
  // Two transfers a clock.
  p.peak_memory_bandwidth = 2 * hertz(cudaDevAttrMemoryClockRate, 1.5e9) * cuda.memoryBusWidth / 8;
  return p;
}

}  // namespace quarry::detail
