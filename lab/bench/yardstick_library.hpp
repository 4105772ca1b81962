/// A library whose algorithms benchmarks measure kernels by.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "quarry/status.hpp"

namespace quarry::lab {

/// One that is open.
class YardstickLibrary {
 public:
  virtual ~YardstickLibrary() = default;
  /// Makes it ready for the current device. Fails with device_error.
  virtual Status start() = 0;
  /// As the library counts.
  virtual std::size_t version() const = 0;
};

/// One that may be there.
struct YardstickKind {
  const char* name;  ///< "cuBLASLt"
  const char* word;  ///< of flags, columns and records: "cublaslt"
  /// Opens the library of this path; where that is empty, the first one found. Asks no device. Fails with
  /// not_found where a path that was given is no such library, with no_device where none is found.
  Result<std::unique_ptr<YardstickLibrary>> (*open)(const std::string& path);
};

}  // namespace quarry::lab
