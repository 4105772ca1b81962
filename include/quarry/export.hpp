/// Kernels for other runtimes: machine code, and all that is needed to launch it without this library.
#pragma once

#include <string>

#include "quarry/artifact.hpp"
#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// Writes a kernel into a folder, which is made where it is not there:
///   NAME.cubin  its code for one target, compiled now where the library does not hold it alone
///   NAME.h      a header for C11 and C++11 that computes grid, parameters and workspace, and needs nothing
///   of
///               this library
///   NAME.json   the same for programs: entry, threads, shared memory, formulas, offsets of parameters
/// and the code of the reduction that follows a parallel split-K, where the kernel has that mode. Existing
/// files are replaced; NAME.json is written last. Fails as Kernel::compile does, with nothing written, with
/// unsupported for a kernel that takes tensor maps (gemm_sm90) or shares tiles (modes.stream_k), and a
/// reduction by itself, and with device_error where the folder cannot be made or written.
Status export_kernel(const Kernel& kernel, const std::string& folder, const CompileOptions& options = {});

}  // namespace quarry
