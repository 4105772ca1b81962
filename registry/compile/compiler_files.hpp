/// Where compilers are on a machine, found without opening or running any.
#pragma once

#include <string>
#include <vector>

#include "quarry/status.hpp"

namespace quarry::detail {

/// A compiler's file.
struct CompilerFile {
  std::string path;  ///< absolute, links resolved
  /// Size and time of its last change: with the path, what tells one version from another without opening it.
  std::string fingerprint;
};

/// The value of an environment variable; "" where it is not set.
std::string environment(const char* name);

/// The file of a path; fails with no_compiler where there is none or it is no regular file.
Result<CompilerFile> compiler_file(const std::string& path);

/// Folders where libnvrtc.so.13 or libnvrtc.so.12 may be, the first that has one counts: LD_LIBRARY_PATH,
/// CUDA_PATH, CUDA_HOME, the toolkit of the nvcc on PATH, /usr/local/cuda, NVIDIA's wheels in the Python
/// environment that is active, the system's, and the toolkit that built this library.
std::vector<std::string> nvrtc_folders();

/// Paths that nvcc may have, the first that exists counts: on PATH, in CUDA_PATH, CUDA_HOME, /usr/local/cuda,
/// and that which built this library.
std::vector<std::string> nvcc_paths();

/// NVRTC's library: QUARRY_NVRTC where that is set, else the first in nvrtc_folders(), else what the dynamic
/// linker finds by name, which is the one case in which it is opened. Fails with no_compiler.
Result<CompilerFile> find_nvrtc_file();

/// The nvcc of QUARRY_NVCC where that is set, else the first of nvcc_paths(). Fails with no_compiler.
Result<CompilerFile> find_nvcc_file();

}  // namespace quarry::detail
