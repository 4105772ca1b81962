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
  std::string file;     ///< name within the folder
  std::string version;  ///< of the library that made the file; files of other versions are not checked
  std::string entry =
      {};  ///< the kernel's entry; empty, as target and compiler, in a damaged or unchecked file
  int target = 0;
  std::string compiler = {};
  std::uint64_t bytes = 0;
  std::int64_t last_used = 0;  ///< seconds since 1970
  Status status = {};          ///< ok, or what is wrong with the file
};

/// The cache as a whole.
struct CacheInfo {
  std::string folder;  ///< empty without a cache; the folder may not exist yet
  Status usable = {};  ///< why the folder is not used
  std::uint64_t bytes = 0;
  std::uint64_t limit = 0;  ///< bytes; 0: the cache is off
  std::size_t entries = 0;
  std::size_t set_aside = 0;
};

/// The cache that the environment chose when it was first needed; it stays for the life of the process.
CacheInfo cache_info();
/// Checks every file and lists all, the latest used first. Damaged files carry a failed status. Moves
/// nothing.
std::vector<CacheEntry> cache_entries();
/// Removes all entries, including damaged ones and those of other versions, and returns how many. Fails where
/// the folder must not be used, or, after everything else was removed, where an entry cannot be removed.
Result<std::size_t> clear_cache();

}  // namespace quarry
