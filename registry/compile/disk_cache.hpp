/// Artifacts on disk, shared by processes: a file each, named by a digest of its key, in QUARRY_CACHE_DIR,
/// else $XDG_CACHE_HOME/quarry, else ~/.cache/quarry.
///
/// A file is written under a temporary name, synced and renamed, so that a reader sees a whole one or none.
/// It is checked when it is read, key and all; one that is damaged is set aside (renamed to *.bad) and made
/// again. Where the folder cannot be used, the cache does nothing, and says so once on standard error.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/artifact.hpp"
#include "quarry/cache.hpp"
#include "registry/compile/artifact_format.hpp"
#include "registry/compile/disk_cache_folder.hpp"
#include "registry/compile/disk_cache_settings.hpp"

namespace quarry::detail {

/// The cache in one folder. Safe from any number of threads and beside any number of processes that use the
/// same folder. The folder is looked at when it is first needed, and made when something is stored.
class DiskCache {
 public:
  explicit DiskCache(CacheSettings settings);

  /// The artifact of this key, or null. Marks it as used now.
  std::shared_ptr<ArtifactData> load(std::string_view key) noexcept;
  /// Leaves the artifact on disk and, where the cache is now larger than its bound, removes what nobody used
  /// for longest. Never fails; does nothing with an artifact that has no key or no code, or is larger than
  /// the bound.
  void store(const ArtifactData& artifact) noexcept;

  CacheInfo info();
  /// Every entry, checked, the latest used first; a damaged entry says why. Sets nothing aside.
  std::vector<CacheEntry> entries();
  /// Removes all entries, also those set aside and of other versions. Answers how many. Fails, after removing
  /// what it could, when one stays or the folder must not be used.
  Result<std::size_t> clear();

 private:
  /// The folder, kept open; null where it does not exist and is not to be made.
  Result<std::shared_ptr<const Descriptor>> folder(bool make);
  std::shared_ptr<ArtifactData> try_load(std::string_view key);
  Status try_store(const ArtifactData& artifact);
  /// Looks after the bound, now that the entry of this name and size is there.
  void grown(const Descriptor& folder, std::string_view name, std::uint64_t bytes);
  /// Says why the cache is not used, the first time.
  void complain(const Status& status);

  CacheSettings settings_;
  std::atomic<bool> complained_ = false;
  std::mutex folder_mutex_;
  std::shared_ptr<const Descriptor> folder_;
  std::mutex sweep_mutex_;                   ///< held by the thread that looks after the bound
  std::atomic<std::uint64_t> added_ = 0;     ///< bytes that this process stored since it last looked
  std::atomic<std::uint64_t> measured_ = 0;  ///< bytes that were there then
  std::atomic<bool> looked_ = false;
};

/// The same of the cache that the environment chooses when it is first needed; it stays for the life of the
/// process (quarry/cache.hpp tells of it). QUARRY_CACHE_SIZE is its bound in MiB, 1024 unless set; 0 turns it
/// off.
std::shared_ptr<ArtifactData> load_cached(std::string_view key) noexcept;
void store_cached(const ArtifactData& artifact) noexcept;

}  // namespace quarry::detail
