/// What compilers say, and what they can compile for.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "quarry/artifact.hpp"
#include "registry/compile/compiler.hpp"

namespace quarry::detail {

/// The oldest compiler that can be used: CUDA 12.4, as 12040.
inline constexpr int oldest_cuda = 12040;

/// no_compiler where a compiler is older than that.
/// @param what names it: "NVRTC", with `path`
Status check_version(std::string_view what, const std::string& path, int version);

/// unsupported where the compiler does not compile for the job's target, or where no kernel or not this one
/// could.
/// @param compiler names it with its version
/// @param supported the compute capabilities that it knows
Status check_target(std::string_view compiler, const CompileJob& job, std::span<const int> supported);

/// compile_error: the first line of the log that says error, then the whole log.
/// @param otherwise what to say where the log is empty
Status compile_failure(std::string_view log, std::string_view otherwise);

/// The resources of an entry according to the log of a compiler that was asked to report them.
CodeResources resources_from_log(std::string_view log, const CompileJob& job, std::size_t code_bytes);

/// "13.0" of 13000.
std::string cuda_version_text(int version);

}  // namespace quarry::detail
