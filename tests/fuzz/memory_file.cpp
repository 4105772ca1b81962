#include "fuzz/memory_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace quarry::fuzz {

MemoryFile::MemoryFile(std::span<const std::byte> bytes) : number_(memfd_create("fuzz", MFD_CLOEXEC)) {
  require(number_ >= 0, "a file in memory can be made");
  require(write(number_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "a file in memory can be written");
}

MemoryFile::~MemoryFile() { close(number_); }

std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(number_); }

}  // namespace quarry::fuzz
