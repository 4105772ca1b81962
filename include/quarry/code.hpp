/// What is known of kernels' machine code without compiling any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "quarry/artifact.hpp"
#include "quarry/kernel.hpp"

namespace quarry {

/// The name of the device function, the entry, that a kernel runs: that of Artifact::entry. Kernels that are
/// each other's transposition share one, and those of types that are the same to the device. Valid for the
/// life of the process.
std::string_view entry_name(const Kernel& kernel);

/// What was recorded when a kernel's entry was compiled for a target (80, 90): with the library, by this
/// process, or, by the compiler that would be used now, for the cache on disk. Absent where it never was.
/// Compiles nothing.
std::optional<CodeResources> known_resources(const Kernel& kernel, int target);

/// The compute capabilities that the library holds machine code for, ascending; empty where it holds none.
std::span<const int> precompiled_targets();

/// How much machine code the library holds.
struct PrecompiledCode {
  /// Entries of all registered kernels, and those of them that are precompiled.
  std::size_t entries = 0;
  std::size_t precompiled = 0;
  /// The embedded fatbins, which hold many entries each, and their bytes.
  std::size_t units = 0;
  std::uint64_t bytes = 0;
};
PrecompiledCode precompiled_code();

}  // namespace quarry
