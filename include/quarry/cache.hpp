/// The cache on disk: machine code that was compiled on this machine and kept for later processes. It is in
/// QUARRY_CACHE_DIR, else in $XDG_CACHE_HOME/quarry, else in ~/.cache/quarry; QUARRY_CACHE_SIZE bounds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "quarry/status.hpp"

namespace quarry {

/// One file of the cache.
struct CacheEntry {
  std::string file;        ///< name within the folder
  std::string version;     ///< of the library that made it; that of another version is not checked
  std::string entry = {};  ///< empty, as are target and compiler, where the file is no good or not checked
  int target = 0;
  std::string compiler = {};
  std::uint64_t bytes = 0;
  std::int64_t last_used = 0;  ///< seconds since 1970
  Status status = {};          ///< why it is no good
};

/// The cache as a whole.
struct CacheInfo {
  std::string folder;  ///< empty where there is none; need not exist yet
  Status usable = {};  ///< why the folder is not used
  std::uint64_t bytes = 0;
  std::uint64_t limit = 0;  ///< bytes; 0: the cache is off
  std::size_t entries = 0;
  std::size_t set_aside = 0;
};

/// The cache that the environment chose when it was first needed; it stays for the life of the process.
CacheInfo cache_info();
/// Every entry, checked, the latest used first; those that are no good say why. Sets nothing aside.
std::vector<CacheEntry> cache_entries();
/// Removes all entries, also those set aside and of other versions. Answers how many. Fails, after removing
/// what it could, when one stays or the folder must not be used.
Result<std::size_t> clear_cache();

}  // namespace quarry
