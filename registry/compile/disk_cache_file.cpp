#include "registry/compile/disk_cache_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>

#include "basic/write_bytes.hpp"

namespace quarry::detail {
namespace {

/// No kernel is near it; a file that says so is no entry, and no reason to ask for the memory.
constexpr std::int64_t most_bytes = std::int64_t{256} << 20;
constexpr std::size_t kept_aside = 16;

Status bad(std::string why) { return {StatusCode::invalid_artifact, std::move(why)}; }

/// Opens what has this name without waiting for it (a pipe) or following it (a link). Where that is nothing
/// that can be read, it is opened as a name only.
void open_entry(const Descriptor& folder, const std::string& name, FoundEntry& found) {
  constexpr int reading = O_RDONLY | O_NONBLOCK | O_NOCTTY;
  for (const int how : {reading, O_PATH}) {
    found.file = Descriptor(openat(folder.number(), name.c_str(), how | O_CLOEXEC | O_NOFOLLOW));
    found.error = found.file ? 0 : errno;
    if (found.error != ELOOP && found.error != ENXIO) return;
    found.status = bad("It is no file");
  }
}

Status check_file(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return bad("It is no file");
  if (status.st_uid != geteuid()) return bad("It belongs to another user");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return bad("It may be written by other users");
  if (status.st_size > most_bytes) return bad("It is too large");
  return {};
}

/// The bytes from the start on, `size` of them unless it is shorter.
Result<std::vector<std::byte>> read_bytes(const Descriptor& file, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::size_t have = 0;
  while (have < size) {
    const ssize_t got = read(file.number(), bytes.data() + have, size - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return bad("It cannot be read: " + error_text(errno));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

void drop_oldest_aside(const Descriptor& folder) {
  std::vector<CacheFile> files = list_cache_files(folder);
  std::erase_if(files, [](const CacheFile& file) { return file.kind != CacheFileKind::set_aside; });
  if (files.size() <= kept_aside) return;
  std::ranges::sort(files, std::greater(), &CacheFile::used);
  for (std::size_t i = kept_aside; i < files.size(); ++i) unlinkat(folder.number(), files[i].name.c_str(), 0);
}

/// A file that nobody else has. Its name is left in `name`.
Descriptor make_temporary(const Descriptor& folder, const std::string& entry, std::string& name) {
  static std::atomic<unsigned> number = 0;
  constexpr int most_tries = 1000;  // another machine's process may have our number
  for (int i = 0; i < most_tries; ++i) {
    name = entry.substr(0, entry.rfind('.')) + "." + std::to_string(getpid()) + "." +
           std::to_string(number.fetch_add(1, std::memory_order_relaxed)) + ".tmp";
    Descriptor file(
        openat(folder.number(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file || errno != EEXIST) return file;
  }
  errno = EEXIST;
  return Descriptor();
}

/// On disk, as far as the file system can say.
int sync(const Descriptor& file) {
  while (fsync(file.number()) != 0) {
    if (errno == EINTR) continue;
    return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ? 0 : errno;
  }
  return 0;
}

}  // namespace

FoundEntry read_entry(const Descriptor& folder, const std::string& name) {
  FoundEntry found;
  open_entry(folder, name, found);
  if (found.error != 0 || !found.status) return found;
  struct stat status = {};
  if (fstat(found.file.number(), &status) != 0) {
    found.error = errno;
    return found;
  }
  if (found.status = check_file(status); !found.status) return found;
  const auto bytes = read_bytes(found.file, static_cast<std::size_t>(status.st_size));
  if (found.status = bytes.status(); !found.status) return found;
  auto artifact = from_bytes(*bytes);
  if (!artifact) {
    found.status = artifact.status();
  } else if (entry_name((*artifact)->key) != name) {
    found.status = bad("It is the artifact of another key");
  } else {
    found.artifact = *std::move(artifact);
  }
  return found;
}

void mark_used(const Descriptor& file) { futimens(file.number(), nullptr); }

void set_aside(const Descriptor& folder, const std::string& name, const Descriptor& file) {
  struct stat ours = {};
  struct stat now = {};
  const int at = folder.number();
  if (!file || fstat(file.number(), &ours) != 0) return;
  if (fstatat(at, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 || !same_file(ours, now)) return;
  const std::string aside = set_aside_name(name);
  if (renameat(at, name.c_str(), at, aside.c_str()) != 0) return;
  // Between the two calls another process may have put a good entry there: it goes back.
  if (fstatat(at, aside.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0 && !same_file(ours, now)) {
    if (linkat(at, aside.c_str(), at, name.c_str(), 0) == 0 || errno == EEXIST)
      unlinkat(at, aside.c_str(), 0);
    return;
  }
  utimensat(at, aside.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  drop_oldest_aside(folder);
}

int write_entry(const Descriptor& folder, const std::string& name, std::span<const std::byte> bytes) {
  std::string temporary;
  const Descriptor file = make_temporary(folder, name, temporary);
  if (!file) return errno;
  int error = write_bytes(file.number(), bytes);
  if (error == 0) error = sync(file);
  if (error == 0 && renameat(folder.number(), temporary.c_str(), folder.number(), name.c_str()) != 0) {
    if (errno == ENOENT) return 0;
    error = errno;
  }
  if (error != 0) {
    unlinkat(folder.number(), temporary.c_str(), 0);
    return error;
  }
  sync(folder);
  return 0;
}

}  // namespace quarry::detail
