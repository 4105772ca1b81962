#include "registry/compile/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "basic/text.hpp"
#include "basic/write_bytes.hpp"

namespace quarry::detail {
namespace {

/// More than this at a time, some systems do not read.
constexpr std::size_t piece = std::size_t{1} << 30;

Status cannot(const char* what, const std::string& path, StatusCode code, int error) {
  return {code, std::string("Cannot ") + what + " " + detail::quoted(path) + ": " + std::strerror(error)};
}

/// Makes a rename last; a file system that cannot sync folders has done what it can.
void sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  (void)::fsync(file);
  ::close(file);
}

/// A new file of a name of its own beside `path`. -1 with errno.
int open_temporary(const std::string& path, std::string& name) {
  static std::atomic<unsigned> counter = 0;
  int file = -1;
  // A process that was killed may have left one of the same number.
  for (int attempt = 0; attempt < 100 && (attempt == 0 || (file < 0 && errno == EEXIST)); ++attempt) {
    name = path + ".tmp" + std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1));
    file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  return file;
}

/// Fills the temporary file and renames it. False with errno.
bool finish(int file, const std::string& temporary, const std::string& path,
            std::span<const std::byte> bytes) {
  int error = write_bytes(file, bytes);
  if (error == 0 && ::fsync(file) != 0) error = errno;
  const bool closed = ::close(file) == 0;
  if (error != 0) errno = error;
  return error == 0 && closed && ::rename(temporary.c_str(), path.c_str()) == 0;
}

}  // namespace

std::string file_behind(const std::string& path) {
  constexpr int most_links = 40;  // as many as Linux follows
  std::filesystem::path file = path;
  for (int link = 0; link < most_links; ++link) {
    std::error_code is_no_link;
    const std::filesystem::path next = std::filesystem::read_symlink(file, is_no_link);
    if (is_no_link) break;
    file = file.parent_path() / next;
  }
  return file.string();
}

Status write_whole_file(const std::string& path, std::span<const std::byte> bytes) {
  struct stat there;
  const bool is_there = ::stat(path.c_str(), &there) == 0;
  if (!is_there && errno == ELOOP) return cannot("write", path, StatusCode::file_error, errno);
  if (is_there && !S_ISREG(there.st_mode)) {
    return {StatusCode::file_error,
            "Cannot write " + detail::quoted(path) + ": it is there and is not a file"};
  }
  const std::string target = file_behind(path);
  std::string temporary;
  const int file = open_temporary(target, temporary);
  if (file < 0) return cannot("write", path, StatusCode::file_error, errno);
  // The file keeps its permissions, as far as the system lets it.
  if (is_there) (void)::fchmod(file, there.st_mode & 07777);
  if (!finish(file, temporary, target, bytes)) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return cannot("write", path, StatusCode::file_error, error);
  }
  sync_folder_of(target);
  return {};
}

Result<WholeFile> WholeFile::open(const std::string& path) {
  // Opening a pipe would wait for somebody to write into it.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return cannot("read", path, StatusCode::invalid_artifact, errno);
  struct stat facts;
  const bool known = ::fstat(file, &facts) == 0;
  const int error = errno;
  if (known && S_ISREG(facts.st_mode)) return WholeFile(file, static_cast<std::size_t>(facts.st_size), path);
  ::close(file);
  if (!known) return cannot("read", path, StatusCode::invalid_artifact, error);
  return Status(StatusCode::invalid_artifact, "Cannot read " + detail::quoted(path) + ": it is not a file");
}

WholeFile::WholeFile(WholeFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)), size_(other.size_), path_(std::move(other.path_)) {}

WholeFile::~WholeFile() {
  if (file_ >= 0) ::close(file_);
}

Result<std::vector<std::byte>> WholeFile::read(std::size_t count) const {
  std::vector<std::byte> bytes;
  try {
    bytes.resize(std::min(count, size_));
  } catch (const std::exception&) {
    return cannot("read", path_, StatusCode::invalid_artifact, ENOMEM);
  }
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        ::pread(file_, bytes.data() + done, std::min(bytes.size() - done, piece), static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot("read", path_, StatusCode::invalid_artifact, errno);
    if (got == 0) break;  // somebody cut it short meanwhile
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace quarry::detail
