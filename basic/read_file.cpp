#include "basic/read_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace quarry::detail {
namespace {

Status cannot_read(int error) {
  return {StatusCode::parse_error, std::string("cannot read it: ") + std::strerror(error)};
}

}  // namespace

Result<std::string> read_file(int file, std::size_t most) {
  constexpr std::size_t piece = std::size_t{1} << 16;
  std::string text;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + std::min(piece, most + 1 - before));
    const ssize_t got = ::read(file, text.data() + before, text.size() - before);
    const int error = errno;
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) return cannot_read(error);
    if (got == 0) return text;
    if (text.size() > most) {
      return Status(StatusCode::parse_error,
                    "it is longer than " + std::to_string(most) + " bytes, the most that is read");
    }
  }
}

Result<std::string> read_file(const std::string& path, std::size_t most) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return cannot_read(errno);
  Result<std::string> text = read_file(file, most);
  ::close(file);
  return text;
}

}  // namespace quarry::detail
