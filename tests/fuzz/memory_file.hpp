/// Fuzzed bytes as a file.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "fuzz/harness.hpp"

namespace quarry::fuzz {

/// A file of these bytes that has a path and lies in memory. It goes when this does.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes);
  explicit MemoryFile(Bytes bytes) : MemoryFile(std::as_bytes(bytes)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();
  std::string path() const;

 private:
  int number_;
};

}  // namespace quarry::fuzz
