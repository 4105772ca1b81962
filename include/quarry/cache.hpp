/// The cache on disk: machine code that was compiled on this machine and kept for later processes. Its folder
/// is QUARRY_CACHE_DIR, else $XDG_CACHE_HOME/quarry, else ~/.cache/quarry. QUARRY_CACHE_SIZE limits its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "quarry/status.hpp"

namespace quarry {

/// One file of the cache.
struct CacheEntry {
  std::string file;     ///< name within the folder
  std::string version;  ///< of the library that made the file; files of other versions are not checked
  /// The kernel's entry. Entry, target and compiler are empty for a damaged or unchecked file.
  std::string entry = {};
  int target = 0;
  std::string compiler = {};
  std::uint64_t bytes = 0;
  std::int64_t last_used = 0;  ///< seconds since 1970
  Status status = {};          ///< ok, or what is wrong with the file
};

/// The cache as a whole.
struct CacheInfo {
  std::string folder;  ///< empty without a cache; the folder may not exist yet
  Status usable = {};  ///< ok, or why the folder is not used
  std::uint64_t bytes = 0;
  std::uint64_t limit = 0;  ///< bytes; 0: the cache is off
  std::size_t entries = 0;
  std::size_t set_aside = 0;  ///< damaged entries that were moved out of use
};

/// The cache that the environment variables selected at its first use. The choice holds until the process
/// ends.
CacheInfo cache_info();
/// Checks every file and returns all files, the most recently used first. A damaged file has a failed status.
/// Changes no file.
std::vector<CacheEntry> cache_entries();
/// Removes all entries, including damaged entries and entries of other versions, and returns how many. Fails
/// if the folder must not be used. If an entry cannot be removed, it removes all others and then fails.
Result<std::size_t> clear_cache();

}  // namespace quarry
