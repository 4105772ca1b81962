/// What the library knows about the machine code of kernels, without compiling any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "quarry/artifact.hpp"
#include "quarry/kernel.hpp"

namespace quarry {

/// The name of the device function (the entry) that a kernel runs, as in Artifact::entry. Kernels share an
/// entry if one is the transposition of the other, or if their types are the same to the device. Valid for
/// the life of the process.
std::string_view entry_name(const Kernel& kernel);

/// The resources of the machine code of a kernel for a target (80, 90). They were recorded when the entry was
/// compiled: with the library, by this process, or for the cache on disk by the compiler that would be used
/// now. Absent if the entry was never compiled. Compiles nothing.
std::optional<CodeResources> known_resources(const Kernel& kernel, int target);

/// The compute capabilities for which the library holds machine code, ascending; empty if it holds no machine
/// code.
std::span<const int> precompiled_targets();

/// How much machine code the library holds.
struct PrecompiledCode {
  /// Entries of all registered kernels, and how many of them are precompiled.
  std::size_t entries = 0;
  std::size_t precompiled = 0;
  /// The number of embedded fatbins, each with many entries, and their size in bytes.
  std::size_t units = 0;
  std::uint64_t bytes = 0;
};
PrecompiledCode precompiled_code();

}  // namespace quarry
