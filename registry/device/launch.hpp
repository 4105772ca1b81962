/// Putting a GEMM's device work on a stream.
#pragma once

#include "family.hpp"
#include "quarry/kernel.hpp"
#include "registry/device/library.hpp"
#include "registry/row.hpp"

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

/// Clears the counters, launches the kernel, launches the reduction. No allocation, no synchronisation, no
/// load; device_error where CUDA refuses. @pre the stream's device is current, the launch is bound to its
/// workspace
Status launch_on_stream(const Row& row, const GemmLaunch& launch, const LaunchFunctions& functions,
                        CUstream_st* stream);

}  // namespace quarry::detail
