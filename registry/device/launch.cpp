#include "registry/device/launch.hpp"

#include <string>

#include "registry/device/cuda_call.hpp"

namespace quarry::detail {
namespace {

/// Launches a function that takes one struct.
cudaError_t start(DeviceFunction function, unsigned grid, unsigned threads, unsigned shared_memory,
                  CUstream_st* stream, const void* params) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_memory;
  config.stream = stream;
  void* arguments[] = {const_cast<void*>(params)};  // the runtime only reads them
  return cudaLaunchKernelExC(&config, function, arguments);
}

/// What to say when CUDA refuses a launch: often the stream is one of another device.
Status refused(cudaError_t error, std::string_view name, CUstream_st* stream) {
  Status status = cuda_status(error, "launch `" + std::string(name) + "`");
  int current = 0;
  int device = 0;
  if (stream != nullptr && cudaGetDevice(&current) == cudaSuccess &&
      cudaStreamGetDevice(stream, &device) == cudaSuccess && device != current) {
    return {StatusCode::device_error, "Cannot launch `" + std::string(name) +
                                          "`: the stream belongs to CUDA device " + std::to_string(device) +
                                          ", the tensors lie on device " + std::to_string(current)};
  }
  (void)cudaGetLastError();
  return status;
}

}  // namespace

Result<LaunchFunctions> load_functions(const Row& row, const GemmLaunch& launch, int device,
                                       std::optional<CUstream_st*> stream, bool compile) {
  LaunchFunctions functions;
  const Result<DeviceFunction> kernel =
      load_function(row.entry, device, launch.shared_memory, stream, compile);
  if (!kernel) return kernel.status();
  functions.kernel = *kernel;
  if (launch.reduce_grid == 0) return functions;

  const std::optional<std::uint32_t> entry = find_entry(launch.reduce_entry);
  if (!entry) {
    return Status(StatusCode::not_precompiled,
                  "The reduction `" + std::string(launch.reduce_entry) + "` is not in this library");
  }
  const Result<DeviceFunction> reduction = load_function(*entry, device, 0, stream, compile);
  if (!reduction) return reduction.status();
  functions.reduction = *reduction;
  return functions;
}

Status launch_on_stream(const Row& row, const GemmLaunch& launch, const LaunchFunctions& functions,
                        CUstream_st* stream) {
  if (launch.counters_bytes > 0) {
    const cudaError_t error = cudaMemsetAsync(launch.params.counters, 0, launch.counters_bytes, stream);
    if (error != cudaSuccess) return refused(error, row.metadata.name, stream);
  }
  cudaError_t error =
      start(functions.kernel, launch.grid, launch.threads, launch.shared_memory, stream, &launch.params);
  if (error != cudaSuccess) return refused(error, row.metadata.name, stream);
  if (launch.reduce_grid == 0) return {};
  error = start(functions.reduction, launch.reduce_grid, launch.reduce_threads, 0, stream, &launch.reduce);
  if (error != cudaSuccess) return refused(error, launch.reduce_entry, stream);
  return {};
}

}  // namespace quarry::detail
