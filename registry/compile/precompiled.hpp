/// Machine code that is part of the library, as artifacts.
#pragma once

#include <cstdint>
#include <memory>

#include "registry/compile/artifact_format.hpp"

namespace quarry::detail {

/// The newest target that the library holds machine code of an entry for that a device of this compute
/// capability runs: code runs on later ones of the same major version. 0 where there is none.
int precompiled_target(std::uint32_t entry, int cc);

/// The embedded code of an entry that runs on a compute capability; null where there is none. Made once for
/// each entry and kept.
std::shared_ptr<const ArtifactData> precompiled_artifact(std::uint32_t entry, int target);

}  // namespace quarry::detail
