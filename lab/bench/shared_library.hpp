/// NVIDIA's shared libraries, which are opened when they are needed.
#pragma once

#include <dlfcn.h>

#include <functional>
#include <span>
#include <string>

#include "quarry/status.hpp"

namespace quarry::lab {

/// How a library is found.
struct SharedLibrary {
  const char* title;                    ///< in messages: "cuBLASLt"
  const char* flag;                     ///< of the command, names the file: "--cublaslt"
  std::span<const char* const> names;   ///< of files, the newest first
  std::span<const char* const> wheels;  ///< folders of it in Python's `nvidia`: "cublas/lib"
};

/// Opens the library of this path; where that is empty, the first in LD_LIBRARY_PATH, toolkits, Python
/// environments and the system's folders, or found by the dynamic linker, that has the functions. It stays
/// open while the process runs. Fails with not_found where a path that was given is no such library, with
/// no_device where none is found.
/// @param look_up_all gives the name of a function that is missing, null where none is
Status open_shared(const SharedLibrary& library, const std::string& path,
                   const std::function<const char*(void* opened)>& look_up_all);

/// Looks functions up by name, and remembers the first that is missing.
class FunctionLookup {
 public:
  explicit FunctionLookup(void* library) : library_(library) {}

  template <class Function>
  void operator()(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }

  /// Null: all were found.
  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

/// The file that a function came from; empty where that is not known.
std::string file_of(const void* function);

}  // namespace quarry::lab
