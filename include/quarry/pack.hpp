/// Packs: the machine code of many kernels in one file, for programs that must not compile.
///
/// A pack is one relocatable file. It holds no path. Any machine with the same version of the library can
/// load it. The packs that the environment variable QUARRY_PACKS names (FILE:FILE...) are loaded when machine
/// code is first needed; an invalid pack is skipped with a warning on standard error.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "quarry/arguments.hpp"
#include "quarry/artifact.hpp"
#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// Writes artifacts into a file. An existing file is replaced by the complete new file, or stays as it is.
/// Artifacts with the same entry and target are written once. Fails with invalid_arguments if there is no
/// artifact, or if one is precompiled (its code is part of the library: compile it with
/// CompileOptions::force), and with file_error if the file cannot be written.
Status write_pack(std::span<const Artifact> artifacts, const std::string& path);

/// The artifacts of a pack, checked but not added to this process. Fails with invalid_artifact if the file
/// cannot be read, is not a pack, is damaged or cut short, or has another format or version of the library.
Result<std::vector<Artifact>> read_pack(const std::string& path);

/// Adds all artifacts of a pack to this process, or none on failure. Their kernels then run without a
/// compiler, with the expressions that were compiled into them. Code that is already present stays in use.
/// Fails with invalid_artifact as read_pack does; if a kernel of the pack is not in this library; if it was
/// compiled from other sources; and if this machine has devices and all of the code is for other devices.
/// Safe from any thread, also while others query and run. What was loaded stays to the end of the process.
Status load_pack(const std::string& path);

/// Compiles kernels for a pack. Unlike `compile`, it also compiles precompiled kernels, because the library
/// holds their code only together with others. It adds the reductions that a parallel split-K of the kernels
/// needs.
///
/// @return an artifact or a failure for each kernel, in their order, then one for each reduction
std::vector<Result<Artifact>> compile_for_pack(std::span<const Kernel> kernels,
                                               const CompileOptions& options = {},
                                               const CompileProgress& progress = {}, int threads = 0);

/// The same for kernels as they run with arguments: what a run of kernels[i] with problems[i] launches, with
/// an expression of the arguments compiled in. Null pointers are fine. Machine code does not depend on sizes,
/// so one problem of each expression is enough: where sums of an expression may be cut in parallel, the pack
/// has both ways. A kernel fails as Kernel::supports does where it does not
/// take its problem; all fail with invalid_arguments if there are not as many problems as kernels, and a
/// kernel does if nothing is launched for its problem.
///
/// @return an artifact or a failure for each kernel, in their order, then one for each entry that follows a
///         kernel, such as a reduction
std::vector<Result<Artifact>> compile_for_pack(std::span<const Kernel> kernels,
                                               std::span<const Arguments> problems,
                                               const CompileOptions& options = {},
                                               const CompileProgress& progress = {}, int threads = 0);

}  // namespace quarry
