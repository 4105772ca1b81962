/// The sources of device code as a table that the library holds, so that it can compile kernels by itself.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "quarry/status.hpp"

namespace quarry::generator {

/// The files that device code reaches, and the C++ that holds them.
struct EmbeddedSources {
  /// Definitions of detail::kernel_sources, family_digests and sources_digest (registry/compile/sources.hpp).
  std::string text;
  std::set<std::filesystem::path> files;
};

/// Follows the includes from the kernel.cuh of every family and of the reductions, and from its
/// expression.cuh, where entries with an expression include one. Fails on an include of
/// any file except our own, by their names below `kernels` or `include`: a compiler at run time has no
/// others.
/// @param kernels the folder kernels/
/// @param include the folder include/
Result<EmbeddedSources> emit_sources(const std::filesystem::path& kernels,
                                     const std::filesystem::path& include);

/// What Make and Ninja read to know that `output` is made from these files.
std::string emit_depfile(const std::filesystem::path& output, const std::set<std::filesystem::path>& files);

}  // namespace quarry::generator
