#include "basic/write_bytes.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace quarry::detail {
namespace {

/// More than this at a time, some systems do not write.
constexpr std::size_t piece = std::size_t{1} << 30;

/// Whether so many bytes may be added to a file.
bool may_grow(int file, std::size_t bytes) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
  struct stat facts = {};
  const auto size = fstat(file, &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
  return size <= limit.rlim_cur && bytes <= limit.rlim_cur - size;
}

}  // namespace

int write_bytes(int file, std::span<const std::byte> bytes) {
  if (!may_grow(file, bytes.size())) return EFBIG;
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), std::min(bytes.size(), piece));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace quarry::detail
