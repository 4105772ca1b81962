#include "registry/tuning/table_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "basic/text.hpp"
#include "basic/write_bytes.hpp"
#include "registry/compile/disk_cache_folder.hpp"
#include "registry/compile/whole_file.hpp"
#include "registry/tuning/index_file.hpp"

namespace quarry::detail {
namespace {

Status cannot_write(const std::string& path, int error) {
  return {StatusCode::file_error, "Cannot write tuning table " + quoted(path) + ": " + error_text(error)};
}

/// Whether the open file still has this name: a writer that had the lock before may have put another one in
/// its place.
bool has_name(const Descriptor& file, const std::string& path) {
  struct stat opened = {};
  struct stat named = {};
  return fstat(file.number(), &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// The table's file, made where it is missing, and locked until it is closed.
Result<Descriptor> open_locked(const std::string& path) {
  for (;;) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666));
    if (!file) return cannot_write(path, errno);
    struct stat status = {};
    if (fstat(file.number(), &status) != 0) return cannot_write(path, errno);
    if (!S_ISREG(status.st_mode))
      return Status(StatusCode::file_error,
                    "Cannot write tuning table " + quoted(path) + ": it is there and is not a file");
    while (flock(file.number(), LOCK_EX) != 0) {
      if (errno != EINTR) return cannot_write(path, errno);
    }
    if (has_name(file, path)) return file;
  }
}

/// 0, or errno.
int write_synced(const Descriptor& file, std::string_view text) {
  const int error = write_bytes(file.number(), std::as_bytes(std::span(text)));
  if (error != 0) return error;
  return fsync(file.number()) == 0 ? 0 : errno;
}

/// Whether the file ends in the middle of a line: a writer was killed.
bool ends_within_line(const Descriptor& file, off_t size) {
  char last = '\n';
  return size > 0 && ::pread(file.number(), &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

Status append_to_table(const std::string& path, std::span<const Measurement> measurements) {
  const Result<Descriptor> file = open_locked(path);
  if (!file) return file.status();
  struct stat before = {};
  if (fstat(file->number(), &before) != 0) return cannot_write(path, errno);
  if (measurements.empty()) return {};
  std::string text = ends_within_line(*file, before.st_size) ? "\n" : "";
  for (const Measurement& each : measurements) text += to_line(each) + "\n";
  const int error = write_synced(*file, text);
  if (error == 0) return {};
  // Where even this fails, the table ends with a line that is cut short, which readers skip.
  [[maybe_unused]] const int cut = ftruncate(file->number(), before.st_size);
  return cannot_write(path, error);
}

Result<std::size_t> join_into_table(const std::string& path, const TuningTable& table,
                                    std::string_view sources, TuningTable& joined) {
  struct stat before = {};
  const bool was_there = lstat(path.c_str(), &before) == 0;
  const Result<Descriptor> file = open_locked(path);
  if (!file) return file.status();
  Result<TuningTable> old = read_table(path);
  if (!old) return old.status();
  old->join(table);
  const std::string text = old->text();
  Status written = write_whole_file(path, std::as_bytes(std::span(text)));
  if (!written) {
    if (!was_there && fstat(file->number(), &before) == 0 && before.st_size == 0) (void)unlink(path.c_str());
    return written;
  }
  joined = *std::move(old);
  const std::size_t left_out = joined.forget_damaged();
  if (Status s = write_index(path, joined, stamp_of(text), sources); !s) return s;
  return left_out;
}

}  // namespace quarry::detail
