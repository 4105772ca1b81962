#include "registry/compile/disk_cache_bound.hpp"

#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::detail {
namespace {

/// True where no other process has the right; also where the file system knows no locks, as the work of two
/// at once is only done twice.
class Turn {
 public:
  explicit Turn(const Descriptor& folder)
      : folder_(folder.number()), mine_(flock(folder_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (mine_) flock(folder_, LOCK_UN);
  }
  explicit operator bool() const { return mine_; }

 private:
  int folder_;
  bool mine_;
};

/// True where the file is gone, whoever removed it.
bool remove(const Descriptor& folder, const std::string& name) {
  return unlinkat(folder.number(), name.c_str(), 0) == 0 || errno == ENOENT;
}

void remove_abandoned(const Descriptor& folder, std::vector<CacheFile>& files) {
  using std::chrono::nanoseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto an_hour_ago = std::chrono::duration_cast<nanoseconds>(now - std::chrono::hours(1)).count();
  std::erase_if(files, [&](const CacheFile& file) {
    if (file.kind != CacheFileKind::temporary) return false;
    if (file.used < an_hour_ago) remove(folder, file.name);
    return true;
  });
}

}  // namespace

std::optional<std::uint64_t> keep_within(const Descriptor& folder, std::uint64_t limit,
                                         std::string_view spared) {
  const Turn turn(folder);
  if (!turn) return std::nullopt;
  std::vector<CacheFile> files = list_cache_files(folder);
  remove_abandoned(folder, files);
  std::uint64_t total = 0;
  for (const CacheFile& file : files) total += file.bytes;
  if (total <= limit) return total;
  std::ranges::sort(files, {}, &CacheFile::used);
  for (const CacheFile& file : files) {
    if (total <= limit - limit / 8) break;
    if (file.name != spared && remove(folder, file.name)) total -= file.bytes;
  }
  return total;
}

}  // namespace quarry::detail
