/// Where artifacts are while the process runs: each is made once, however many threads ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "quarry/artifact.hpp"

namespace quarry::detail {

/// The machine code of an entry for a compute capability (0: the default device model's): precompiled,
/// added by the program, made before by this process, from the cache on disk, or compiled now. Whoever asks
/// for one that is being made waits for it. A failure to compile is not kept: the next one who asks tries
/// again.
/// @param entry number of the entry (entry_of)
Result<Artifact> find_artifact(std::uint32_t entry, const CompileOptions& options);

/// The artifact where it is in memory already, precompiled or not, for the target or an earlier one that runs
/// there (code for 8.0 on 8.6); null otherwise. Compiles nothing, and reads only, once, the packs of
/// QUARRY_PACKS.
std::shared_ptr<const ArtifactData> artifact_in_memory(std::uint32_t entry, int target);

/// Whether artifact_in_memory has one.
bool has_machine_code(std::uint32_t entry, int target);

/// A number that changes whenever has_machine_code may answer otherwise than before.
std::uint32_t machine_code_epoch();

/// As artifact_in_memory, but the entry's own code alone, also where it is precompiled together with others.
std::shared_ptr<const ArtifactData> kept_artifact(std::uint32_t entry, int target);

/// Keeps an artifact for its entry and target unless there is one. True where it is kept.
bool keep_artifact(std::uint32_t entry, std::shared_ptr<const ArtifactData> artifact);

/// How many compilations this process has made: what tests count.
std::size_t compilations();

}  // namespace quarry::detail
