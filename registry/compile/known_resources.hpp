/// What is known of a kernel's machine code without compiling it.
#pragma once

#include <cstdint>
#include <optional>

#include "quarry/artifact.hpp"

namespace quarry::detail {

/// What was recorded when an entry was compiled for a target: with the library, by this process, or, by the
/// compiler that would be used now, for the cache on disk. Absent where it never was. Compiles nothing.
/// @param entry number of the entry (entry_of)
std::optional<CodeResources> known_resources(std::uint32_t entry, int target);

}  // namespace quarry::detail
