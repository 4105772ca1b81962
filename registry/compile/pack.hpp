/// What the process does with packs and artifacts that are brought along.
#pragma once

#include <cstdint>

#include "quarry/pack.hpp"
#include "registry/compile/artifact_format.hpp"

namespace quarry::detail {

/// Whether an artifact is code of a kernel of this library, made from its sources. An expression that was
/// compiled into it is then known to this program; nothing else changes. Fails with invalid_artifact.
Status check_artifact(const ArtifactData& artifact);

/// The number of the artifact's entry. A kernel that is not registered is made (see make_kernel): its code
/// may be there before anybody asks for it. @pre check_artifact(artifact)
Result<std::uint32_t> entry_of_artifact(const ArtifactData& artifact);

/// Loads the packs of QUARRY_PACKS unless that has been done. Called by whatever needs machine code.
void load_environment_packs();

/// Whether a device of compute capability `cc` runs machine code of `target`: it must be of the same major
/// version, and of no later minor one.
constexpr bool runs_on(int target, int cc) { return target / 10 == cc / 10 && target <= cc; }

}  // namespace quarry::detail
