#include "registry/device/launch.hpp"

#include <string>

#include "registry/device/cuda_call.hpp"

namespace quarry::detail {
namespace {

/// Size and manner of one launch.
struct Shape {
  unsigned grid;
  unsigned threads;
  unsigned shared_memory = 0;
  unsigned cluster = 1;
  bool overlap = false;
};

/// Launches a function that takes one struct.
cudaError_t start(DeviceFunction function, const Shape& shape, CUstream_st* stream, const void* params) {
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(shape.grid);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_memory;
  config.stream = stream;
  config.attrs = attributes;
  if (shape.cluster > 1) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = shape.cluster;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
  }
  if (shape.overlap) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  void* arguments[] = {const_cast<void*>(params)};  // the runtime only reads them
  return cudaLaunchKernelExC(&config, function, arguments);
}

Status launch_status(cudaError_t error, std::string_view name) {
  if (error == cudaSuccess) [[likely]]
    return {};
  return cuda_status(error, "launch `" + std::string(name) + "`");
}

/// The number of a step's entry.
std::uint32_t entry_number(const Row& row, const Step& step) {
  return step.entry == 0 ? row.entry : row.companions[step.entry - 1U];
}

std::string_view name_of(const Row& row, const Step& step) {
  return step.entry == 0 ? row.metadata.name : entry_of(entry_number(row, step)).name;
}

cudaError_t put(const Step& step, const LaunchFunctions& functions, const std::byte* image, void* workspace,
                const LaunchOptions& options) {
  if (step.kind == Step::Kind::clear) {
    return cudaMemsetAsync(static_cast<std::byte*>(workspace) + step.clear_at, 0, step.clear_bytes,
                           options.stream);
  }
  const Shape shape = {step.grid, step.threads, step.shared_memory, step.cluster,
                       options.overlap && step.waits_for_earlier};
  return start(functions.of[step.entry], shape, options.stream, image + step.at);
}

}  // namespace

Result<LaunchFunctions> load_functions(const Row& row, const Launch& launch, int device,
                                       std::optional<CUstream_st*> stream, bool compile) {
  LaunchFunctions functions;
  for (const Step& step : launch.steps) {
    if (step.kind != Step::Kind::kernel) continue;
    const std::uint32_t entry = entry_number(row, step);
    if (entry == no_entry) {
      return Status(StatusCode::not_precompiled,
                    "A kernel that follows `" + std::string(row.metadata.name) + "` is not in this library");
    }
    const Result<DeviceFunction> function = load_function(entry, device, step.shared_memory, stream, compile);
    if (!function) return function.status();
    functions.of[step.entry] = *function;
  }
  return functions;
}

Status launch_function(std::string_view name, DeviceFunction function, const GridShape& shape,
                       CUstream_st* stream, const void* params) {
  const Shape all = {.grid = shape.grid, .threads = shape.threads, .shared_memory = shape.shared_memory};
  const cudaError_t error = start(function, all, stream, params);
  return launch_status(error, name);
}

Status launch_on_stream(const Row& row, const Launch& launch, const LaunchFunctions& functions,
                        const std::byte* image, void* workspace, const LaunchOptions& options) {
  for (const Step& step : launch.steps) {
    const cudaError_t error = put(step, functions, image, workspace, options);
    if (error != cudaSuccess) return launch_status(error, name_of(row, step));
  }
  return {};
}

}  // namespace quarry::detail
