#include "registry/tuning/problem_log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "basic/text.hpp"
#include "basic/write_bytes.hpp"
#include "registry/compile/disk_cache_folder.hpp"

namespace quarry::detail {
namespace {

/// A program that asks about more different problems has sizes of no pattern, and its log would only grow.
constexpr std::size_t most_problems = 100'000;

struct HashKey {
  std::size_t operator()(const TuningKey& key) const {
    return static_cast<std::size_t>(key.digest.low ^ mixed(static_cast<std::uint64_t>(key.m)));
  }
};

/// Never destroyed: threads may ask while the process ends.
struct Log {
  std::string path;
  std::atomic<bool> is_on = false;
  std::mutex mutex;
  int file = -1;
  /// Whether what is in the file already ends within a line.
  bool is_within_line = false;
  std::unordered_set<TuningKey, HashKey> known;
};

Log& the_log() {
  static Log* const log = [] {
    auto* const made = new Log;
    const char* const path = std::getenv("QUARRY_LOG_PROBLEMS");
    made->path = path == nullptr ? "" : path;
    made->is_on = !made->path.empty();
    return made;
  }();
  return *log;
}

/// @pre the mutex is held
void stop(Log& log, const std::string& why) {
  log.is_on = false;
  const std::string line =
      "quarry: warning: QUARRY_LOG_PROBLEMS: cannot write " + quoted(log.path) + ": " + why + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

/// Whether the last of so many bytes of a file ends a line; also where the file cannot be read.
bool ends_with_newline(const std::string& path, off_t bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  char last = '\n';
  const bool is_read = pread(file, &last, 1, bytes - 1) == 1;
  ::close(file);
  return !is_read || last == '\n';
}

/// Opens a file, or a device such as a terminal. A pipe or a socket is refused: a program would wait for its
/// reader, or end when the reader does. @return why the log cannot be used, or "". @pre the mutex is held
std::string open_log(Log& log) {
  // Without O_NONBLOCK, opening a pipe waits for a reader; ENXIO: it has no reader.
  const int file =
      ::open(log.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  if (file < 0) return errno == ENXIO ? "it is not a file" : error_text(errno);
  struct stat status = {};
  const bool is_usable = fstat(file, &status) == 0 && (S_ISREG(status.st_mode) || S_ISCHR(status.st_mode));
  if (!is_usable) {
    ::close(file);
    return "it is not a file";
  }
  (void)fcntl(file, F_SETFL, O_APPEND);  // writes to a terminal wait until it takes them
  log.file = file;
  log.is_within_line =
      S_ISREG(status.st_mode) && status.st_size > 0 && !ends_with_newline(log.path, status.st_size);
  return "";
}

/// Writes a line whole or not at all: half of a line may be a whole one, of another problem. 0, or errno.
int write_line(int file, std::string_view line) {
  while (flock(file, LOCK_EX) != 0 && errno == EINTR) {
  }
  struct stat before = {};
  const bool is_known = fstat(file, &before) == 0 && S_ISREG(before.st_mode);
  const int error = write_bytes(file, std::as_bytes(std::span(line)));
  if (error != 0 && is_known) {
    [[maybe_unused]] const int cut = ftruncate(file, before.st_size);
  }
  (void)flock(file, LOCK_UN);
  return error;
}

}  // namespace

bool logs_problems() { return the_log().is_on.load(std::memory_order_relaxed); }

bool is_new_problem(const TuningKey& key) try {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  return log.known.size() < most_problems && log.known.insert(key).second;
} catch (const std::exception&) {
  return false;
}

void log_problem(std::string_view operation, const std::string& words) {
  Log& log = the_log();
  std::string line = std::string(operation) + " " + words + "\n";
  const std::lock_guard lock(log.mutex);
  if (!log.is_on) return;
  if (log.file < 0) {
    if (const std::string why = open_log(log); !why.empty()) return stop(log, why);
  }
  if (std::exchange(log.is_within_line, false)) line.insert(0, "\n");
  if (const int error = write_line(log.file, line); error != 0) stop(log, error_text(error));
}

}  // namespace quarry::detail
