/// Putting the device work of a GEMM or a reduction on a stream.
#pragma once

#include <optional>
#include <string_view>

#include "gemm/family.hpp"
#include "operations/common/row.hpp"
#include "quarry/kernel.hpp"
#include "registry/device/library.hpp"
#include "registry/device/tensor_map.hpp"

namespace quarry::detail {

/// The functions of one launch.
struct LaunchFunctions {
  DeviceFunction kernel = nullptr;
  /// Null unless the launch has a reduction.
  DeviceFunction reduction = nullptr;
};

/// Loads what the launch of a row's kernel needs, and compiles it where it must and may; see load_function.
/// @pre `device` is current
Result<LaunchFunctions> load_functions(const Row& row, const GemmLaunch& launch, int device,
                                       std::optional<CUstream_st*> stream, bool compile);

/// Size of a launch.
struct GridShape {
  unsigned grid = 0;
  unsigned threads = 0;
  unsigned shared_memory = 0;
};

/// Launches a function that takes one struct. device_error where CUDA refuses. @param name for messages
/// @pre the stream's device is current
Status launch_function(std::string_view name, DeviceFunction function, const GridShape& shape,
                       CUstream_st* stream, const void* params);

/// How a launch goes on its stream.
struct LaunchOptions {
  CUstream_st* stream = nullptr;
  /// The kernel may start before the one in front of it has ended; see RunOptions::overlap.
  bool overlap = false;
};

/// Clears the counters, launches the kernel, launches the reduction. No allocation, no synchronisation, no
/// load; device_error where CUDA refuses. @param maps those of the launch, encoded; only read if it has any
/// @pre the stream's device is current, the launch is bound to its workspace
Status launch_on_stream(const Row& row, const GemmLaunch& launch, const LaunchFunctions& functions,
                        const TensorMaps& maps, const LaunchOptions& options);

/// Launches a reduction, likewise. @param name of its entry, for messages
Status launch_reduction(std::string_view name, const ReduceLaunch& launch, DeviceFunction function,
                        CUstream_st* stream);

}  // namespace quarry::detail
