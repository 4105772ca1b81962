/// Putting device work on a stream.
#pragma once

#include <cstddef>
#include <optional>

#include "launch.hpp"
#include "operations/common/row.hpp"
#include "quarry/kernel.hpp"
#include "registry/device/library.hpp"

namespace quarry::detail {

/// The functions of one launch, by Step::entry; null where no step has it.
struct LaunchFunctions {
  DeviceFunction of[1 + most_companions] = {};
};

/// What code the steps of a launch run.
struct CodeChoice {
  /// Of the row's own entry; see RunOptions::artifact.
  const Artifact* artifact = nullptr;
  /// Other code may be compiled.
  bool compile = true;
};

/// Ok when an artifact that is given (null: none) is code of what the launch runs of the row: its entry, or
/// that with an expression; invalid_artifact otherwise.
Status check_given(const Row& row, const Launch& launch, const Artifact* artifact);

/// Loads what the steps of a launch need, and compiles it where it must and may; see load_function and
/// load_given. Fails with not_precompiled where the library has no such companion of the row.
/// @pre `device` is current; check_given(row, launch, code.artifact)
Result<LaunchFunctions> load_functions(const Row& row, const Launch& launch, int device,
                                       std::optional<CUstream_st*> stream, const CodeChoice& code);

/// How a launch goes on its stream.
struct LaunchOptions {
  CUstream_st* stream = nullptr;
  /// The kernel may start before the one in front of it has ended; see RunOptions::overlap.
  bool overlap = false;
};

/// Puts the steps of a launch on a stream. No allocation, no synchronisation, no load; device_error where
/// CUDA refuses.
/// @param image of the launch, with the pointers and encoded maps of this run
/// @param workspace of this run
/// @pre the stream's device is current
Status launch_on_stream(const Row& row, const Launch& launch, const LaunchFunctions& functions,
                        const std::byte* image, void* workspace, const LaunchOptions& options);

}  // namespace quarry::detail
