#include "registry/device/launch.hpp"

#include <string>

#include "quarry/artifact.hpp"
#include "registry/device/cuda_call.hpp"
#include "registry/query/own_kernels.hpp"

namespace quarry::detail {
namespace {

/// Launches a function that takes one struct.
/// @param overlap whether it may start before the kernel in front of it has ended
cudaError_t start(DeviceFunction function, const Step& step, bool overlap, CUstream_st* stream,
                  const void* params) {
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(step.grid);
  config.blockDim = dim3(step.threads);
  config.dynamicSmemBytes = step.shared_memory;
  config.stream = stream;
  config.attrs = attributes;
  if (step.cluster > 1) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = step.cluster;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
  }
  if (overlap) {
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

std::string_view name_of(const Row& row, const Step& step) {
  return step.entry == 0 ? row.metadata.name : entry_of(row.companions[step.entry - 1U]).name;
}

cudaError_t put(const Step& step, const LaunchFunctions& functions, const std::byte* image, void* workspace,
                const LaunchOptions& options) {
  if (step.kind == Step::Kind::clear) {
    return cudaMemsetAsync(static_cast<std::byte*>(workspace) + step.clear_at, 0, step.clear_bytes,
                           options.stream);
  }
  const bool overlap = options.overlap && step.waits_for_earlier;
  return start(functions.of[step.entry], step, overlap, options.stream, image + step.at);
}

}  // namespace

Status check_given(const Row& row, const Launch& launch, const Artifact* artifact) {
  if (artifact == nullptr) return {};
  const Step* const step = kernel_step(launch);
  const std::uint32_t entry = step == nullptr ? row.entry : entry_of_step(row, launch, *step);
  const std::string_view name = entry == no_entry ? row.metadata.name : entry_of(entry).name;
  if (artifact->entry() == name) return {};
  return {StatusCode::invalid_artifact, "The artifact is code of `" + std::string(artifact->entry()) +
                                            "`, and kernel `" + std::string(row.metadata.name) + "` runs `" +
                                            std::string(name) + "`"};
}

Result<LaunchFunctions> load_functions(const Row& row, const Launch& launch, int device,
                                       std::optional<CUstream_st*> stream, const CodeChoice& code) {
  LaunchFunctions functions;
  for (const Step& step : launch.steps) {
    if (step.kind != Step::Kind::kernel) continue;
    const std::uint32_t entry = entry_of_step(row, launch, step);
    if (entry == no_entry) {
      return Status(StatusCode::not_precompiled,
                    "A kernel that follows `" + std::string(row.metadata.name) + "` is not in this library");
    }
    const bool is_given = code.artifact != nullptr && step.entry == 0;
    const Result<DeviceFunction> function =
        is_given ? load_given(code.artifact->shared_data(), device, step.shared_memory, stream)
                 : load_function(entry, device, step.shared_memory, stream, code.compile);
    if (!function) return function.status();
    functions.of[step.entry] = *function;
  }
  return functions;
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
