/// Machine code that is part of the library, as artifacts.
#pragma once

#include <cstdint>
#include <memory>

#include "registry/compile/artifact_format.hpp"

namespace quarry::detail {

/// The embedded code of an entry that runs on a compute capability; null where there is none. Made once for
/// each entry and kept.
std::shared_ptr<const ArtifactData> precompiled_artifact(std::uint32_t entry, int target);

}  // namespace quarry::detail
