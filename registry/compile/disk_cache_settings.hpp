/// What the environment says of the cache on disk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "quarry/status.hpp"

namespace quarry::detail {

inline constexpr std::uint64_t default_cache_limit = std::uint64_t{1024} << 20;

struct CacheSettings {
  std::string folder;                         ///< absolute; empty where there is none
  Status found;                               ///< why there is none
  std::uint64_t limit = default_cache_limit;  ///< bytes; 0: the cache is off
  std::string complaint = {};                 ///< about QUARRY_CACHE_SIZE; empty where it can be read
};

/// The settings of an environment. An empty variable is as good as none, and a relative XDG_CACHE_HOME or
/// HOME is ignored; a relative QUARRY_CACHE_DIR counts from the current folder.
/// @param variable the value of an environment variable, or null, as std::getenv gives it
CacheSettings cache_settings(const std::function<const char*(const char*)>& variable);

}  // namespace quarry::detail
