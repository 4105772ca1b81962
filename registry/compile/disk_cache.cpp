#include "registry/compile/disk_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include "basic/text.hpp"
#include "quarry/version.hpp"
#include "registry/compile/disk_cache_bound.hpp"
#include "registry/compile/disk_cache_file.hpp"

namespace quarry::detail {
namespace {

using Folder = std::shared_ptr<const Descriptor>;

/// One line on standard error.
void warn(std::string line) {
  line = "quarry: " + line + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

/// Nothing where the file is gone.
std::optional<CacheEntry> looked_at(const Descriptor& folder, const CacheFile& file) {
  CacheEntry entry{.file = file.name,
                   .version = file.version,
                   .bytes = file.bytes,
                   .last_used = file.used / 1'000'000'000};
  if (file.version != QUARRY_VERSION) return entry;
  const FoundEntry found = read_entry(folder, file.name);
  if (found.error == ENOENT) return std::nullopt;
  entry.status = found.status;
  if (found.artifact) {
    entry.entry = found.artifact->entry;
    entry.target = found.artifact->target;
    entry.compiler = found.artifact->compiler;
  } else if (found.status) {
    entry.status = Status(StatusCode::invalid_artifact, "It cannot be opened: " + error_text(found.error));
  }
  return entry;
}

/// The cache of this process. Never destroyed: threads may ask while the process ends.
DiskCache& process_cache() {
  static DiskCache* const cache = [] {
    CacheSettings settings = cache_settings([](const char* name) { return std::getenv(name); });
    if (!settings.complaint.empty()) warn(settings.complaint);
    return new DiskCache(std::move(settings));
  }();
  return *cache;
}

}  // namespace

DiskCache::DiskCache(CacheSettings settings) : settings_(std::move(settings)) {}

void DiskCache::complain(const Status& status) {
  if (complained_.exchange(true)) return;
  warn("the cache of compiled kernels is not used: " + status.message() +
       " (QUARRY_CACHE_DIR=FOLDER selects another folder, QUARRY_CACHE_SIZE=0 turns the cache off)");
}

Result<Folder> DiskCache::folder(bool make) {
  const std::lock_guard lock(folder_mutex_);
  if (folder_) return folder_;
  if (!settings_.found) return settings_.found;
  Result<Folder> opened = open_cache_folder(settings_.folder, make);
  if (opened) folder_ = *opened;
  return opened;
}

std::shared_ptr<ArtifactData> DiskCache::try_load(std::string_view key) {
  if (settings_.limit == 0) return nullptr;
  const Result<Folder> opened = folder(false);
  if (!opened) complain(opened.status());
  if (!opened || *opened == nullptr) return nullptr;
  const std::string name = entry_name(key);
  FoundEntry found = read_entry(**opened, name);
  if (!found.status || (found.artifact && found.artifact->key != key)) {
    set_aside(**opened, name, found.file);
    return nullptr;
  }
  if (found.artifact) mark_used(found.file);
  return std::move(found.artifact);
}

Status DiskCache::try_store(const ArtifactData& artifact) {
  if (settings_.limit == 0 || artifact.key.empty() || artifact.code.empty()) return {};
  const std::vector<std::byte> bytes = to_bytes(artifact);
  if (bytes.size() > settings_.limit) return {};
  const std::string name = entry_name(artifact.key);
  for (bool again = false;; again = true) {
    const Result<Folder> opened = folder(true);
    if (!opened) return opened.status();
    const int error = write_entry(**opened, name, bytes);
    if (error == ENOENT && !again) {  // somebody removed the folder
      const std::lock_guard lock(folder_mutex_);
      if (folder_ == *opened) folder_ = nullptr;
      continue;
    }
    if (error != 0) {
      return {StatusCode::unsupported,
              "cannot write to " + quoted(settings_.folder) + ": " + error_text(error)};
    }
    grown(**opened, name, bytes.size());
    return {};
  }
}

void DiskCache::grown(const Descriptor& folder, std::string_view name, std::uint64_t bytes) {
  // The folder is listed at the first store, when the bound may be reached, and after each sixteenth of it,
  // as other processes store too.
  const std::uint64_t added = added_ += bytes;
  if (looked_ && added < settings_.limit / 16 && measured_ + added <= settings_.limit) return;
  const std::unique_lock turn(sweep_mutex_, std::try_to_lock);
  if (!turn) return;
  const std::uint64_t seen = added_;  // all of it is in the folder by now; others may add to it
  if (const auto total = keep_within(folder, settings_.limit, name)) {
    measured_ = *total;
    added_ -= seen;
    looked_ = true;
  }
}

std::shared_ptr<ArtifactData> DiskCache::load(std::string_view key) noexcept {
  try {
    return try_load(key);
  } catch (...) {  // no memory
    return nullptr;
  }
}

void DiskCache::store(const ArtifactData& artifact) noexcept {
  try {
    if (const Status status = try_store(artifact); !status) complain(status);
  } catch (...) {  // no memory: the artifact is not kept
    return;
  }
}

CacheInfo DiskCache::info() {
  CacheInfo info{.folder = settings_.folder, .limit = settings_.limit};
  const Result<Folder> opened = folder(false);
  info.usable = opened.status();
  if (!opened || *opened == nullptr) return info;
  for (const CacheFile& file : list_cache_files(**opened)) {
    if (file.kind == CacheFileKind::temporary) continue;
    info.bytes += file.bytes;
    ++(file.kind == CacheFileKind::entry ? info.entries : info.set_aside);
  }
  return info;
}

std::vector<CacheEntry> DiskCache::entries() {
  std::vector<CacheEntry> entries;
  const Result<Folder> opened = folder(false);
  if (!opened || *opened == nullptr) return entries;
  std::vector<CacheFile> files = list_cache_files(**opened);
  std::erase_if(files, [](const CacheFile& file) { return file.kind != CacheFileKind::entry; });
  std::ranges::sort(files, std::greater(), &CacheFile::used);
  for (const CacheFile& file : files) {
    if (auto entry = looked_at(**opened, file)) entries.push_back(*std::move(entry));
  }
  return entries;
}

Result<std::size_t> DiskCache::clear() {
  const Result<Folder> opened = folder(false);
  if (!opened) return opened.status();
  std::size_t removed = 0;
  if (*opened == nullptr) return removed;
  std::string failure;
  for (const CacheFile& file : list_cache_files(**opened)) {
    const char* const name = file.name.c_str();
    const int at = (*opened)->number();
    if (unlinkat(at, name, 0) == 0 || unlinkat(at, name, AT_REMOVEDIR) == 0) {
      removed += file.kind == CacheFileKind::temporary ? 0 : 1;
    } else if (errno != ENOENT && failure.empty()) {
      failure = "cannot remove " + quoted(file.name) + ": " + error_text(errno);
    }
  }
  if (failure.empty()) return removed;
  return Status(StatusCode::unsupported, failure + " (" + std::to_string(removed) + " others were removed)");
}

std::shared_ptr<ArtifactData> load_cached(std::string_view key) noexcept {
  try {
    return process_cache().load(key);
  } catch (...) {  // no memory
    return nullptr;
  }
}

void store_cached(const ArtifactData& artifact) noexcept {
  try {
    process_cache().store(artifact);
  } catch (...) {  // no memory
    return;
  }
}

}  // namespace quarry::detail

namespace quarry {

CacheInfo cache_info() { return detail::process_cache().info(); }
std::vector<CacheEntry> cache_entries() { return detail::process_cache().entries(); }
Result<std::size_t> clear_cache() { return detail::process_cache().clear(); }

}  // namespace quarry
