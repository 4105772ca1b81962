/// Packs: the machine code of many kernels in one file, for programs that shall not compile.
///
/// A pack is one relocatable file: it holds no path, and any machine can load it that runs the same version
/// of the library. The packs that the environment variable QUARRY_PACKS names (FILE:FILE...) are loaded when
/// machine code is first needed; an invalid pack is skipped with a warning on standard error.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "quarry/artifact.hpp"
#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// Writes artifacts into a file. An existing file is replaced by the whole new one, or stays as it is; an
/// entry and target that is given several times is written once. Fails with invalid_arguments where there is
/// no artifact, or one that is precompiled (its code is part of the library: compile it with
/// CompileOptions::force), and with device_error where the file cannot be written.
Status write_pack(std::span<const Artifact> artifacts, const std::string& path);

/// The artifacts of a pack, checked but not added to anything. Fails with invalid_artifact when the file
/// cannot be read, is no pack, is damaged or cut short, or of another format or version of the library.
Result<std::vector<Artifact>> read_pack(const std::string& path);

/// Adds the artifacts of a pack to this process, all of them or, on failure, none: their kernels run without
/// being compiled. Code that is there already stays in use. Fails with invalid_artifact as read_pack does,
/// where a kernel of it is not one of this library, where it was compiled from other sources, and where there
/// are devices and all of it is for others.
Status load_pack(const std::string& path);

/// Compiles kernels for a pack: as `compile` does, but also those that are precompiled, whose code in the
/// library is not theirs alone, and the reductions that follow a parallel split-K of the kernels, without
/// which a pack is not complete.
/// @return an artifact or a failure for each kernel, in their order, then one for each reduction
std::vector<Result<Artifact>> compile_for_pack(std::span<const Kernel> kernels,
                                               const CompileOptions& options = {},
                                               const CompileProgress& progress = {}, int threads = 0);

}  // namespace quarry
