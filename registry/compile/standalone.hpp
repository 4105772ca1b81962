/// Machine code of one entry by itself, as packs and exports need it.
#pragma once

#include <cstdint>

#include "quarry/artifact.hpp"

namespace quarry::detail {

/// As find_artifact, but an entry that is precompiled is compiled again: what the library holds is the code
/// of many entries and targets together.
Result<Artifact> standalone_artifact(std::uint32_t entry, const CompileOptions& options);

}  // namespace quarry::detail
