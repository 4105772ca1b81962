/// Device code: from entries of the table to functions that can be launched.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

struct ArtifactData;

/// What `cudaLaunchKernelExC` takes as function.
using DeviceFunction = const void*;

/// The entry, ready to be launched with `shared_memory` bytes of dynamic shared memory on `device`, which is
/// current. Loads it, with its unit, when that has not been done in this process; from then on the answer
/// takes a few nanoseconds and no lock. Safe from any thread. Failures:
/// - not_precompiled: there is no machine code of it for the device, and `compile` is false;
/// - no_compiler, compile_error: it would have to be compiled, and cannot be;
/// - not_loaded: it is not loaded yet, and `stream` is capturing. Without a stream, it is loaded all the
/// same, in a way that
///   breaks no capture;
/// - device_error: CUDA refuses to load it.
Result<DeviceFunction> load_function(std::uint32_t entry, int device, unsigned shared_memory,
                                     std::optional<CUstream_st*> stream, bool compile);

/// The function of an artifact that the program gives for a run, whatever else there is of its entry, ready
/// as load_function makes it. Loaded once for each ArtifactData, which is kept from then on. Safe from any
/// thread. Fails with invalid_artifact where it was made from other sources than this library's or for
/// another compute capability than the device's, and as load_function does.
Result<DeviceFunction> load_given(const std::shared_ptr<const ArtifactData>& artifact, int device,
                                  unsigned shared_memory, std::optional<CUstream_st*> stream);

/// The entry of this name: of the table, or of a kernel that the program made.
std::optional<std::uint32_t> find_entry(std::string_view name);

}  // namespace quarry::detail
