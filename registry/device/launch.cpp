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

/// Whether a kernel waits for the one before it itself, where it starts early: those of Hopper alone do.
bool knows_overlap(const KernelMetadata& kernel) { return kernel.max_cc == 90; }

/// Launches the GEMM kernel, whichever parameters it takes.
cudaError_t start_gemm(const GemmLaunch& launch, DeviceFunction function, const TensorMaps& maps,
                       const LaunchOptions& options) {
  const Shape shape = {launch.grid, launch.threads, launch.shared_memory, launch.cluster, options.overlap};
  if (!launch.has_tensor_maps) return start(function, shape, options.stream, &launch.params);
  const TensorGemmParams params = {.gemm = launch.params,
                                   .a = maps.a,
                                   .b = maps.b,
                                   .out = maps.out,
                                   .stores_boxes = launch.map_out.has_box()};
  return start(function, shape, options.stream, &params);
}

Status launch_status(cudaError_t error, std::string_view name) {
  if (error == cudaSuccess) [[likely]]
    return {};
  return cuda_status(error, "launch `" + std::string(name) + "`");
}

}  // namespace

Result<LaunchFunctions> load_functions(const Row& row, const GemmLaunch& launch, int device,
                                       std::optional<CUstream_st*> stream, bool compile) {
  LaunchFunctions functions;
  const Result<DeviceFunction> kernel =
      load_function(row.entry, device, launch.shared_memory, stream, compile);
  if (!kernel) return kernel.status();
  functions.kernel = *kernel;
  if (launch.reduce.grid == 0) return functions;

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

Status launch_function(std::string_view name, DeviceFunction function, const GridShape& shape,
                       CUstream_st* stream, const void* params) {
  const Shape all = {.grid = shape.grid, .threads = shape.threads, .shared_memory = shape.shared_memory};
  const cudaError_t error = start(function, all, stream, params);
  return launch_status(error, name);
}

Status launch_on_stream(const Row& row, const GemmLaunch& launch, const LaunchFunctions& functions,
                        const TensorMaps& maps, const LaunchOptions& options) {
  CUstream_st* const stream = options.stream;
  if (launch.counters_bytes > 0) {
    const cudaError_t error = cudaMemsetAsync(launch.params.counters, 0, launch.counters_bytes, stream);
    if (Status s = launch_status(error, row.metadata.name); !s) return s;
  }
  const bool overlap = options.overlap && knows_overlap(row.metadata);
  const cudaError_t error = start_gemm(launch, functions.kernel, maps, {stream, overlap});
  if (Status s = launch_status(error, row.metadata.name); !s) return s;
  if (launch.reduce.grid == 0) return {};
  return launch_reduction(launch.reduce_entry, launch.reduce, functions.reduction, stream);
}

Status launch_reduction(std::string_view name, const ReduceLaunch& launch, DeviceFunction function,
                        CUstream_st* stream) {
  const cudaError_t error = start(function, {launch.grid, launch.threads}, stream, &launch.params);
  return launch_status(error, name);
}

}  // namespace quarry::detail
