/// How the cache on disk stays within its bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "registry/compile/disk_cache_folder.hpp"

namespace quarry::detail {

/// Removes the files that were not used for longest, where all together are larger than the limit, until an
/// eighth of it is free; never the one of the name `spared`, which was just stored. Also removes temporary
/// files of an hour ago, whose writers died. Where another process is doing the same just now, it does
/// nothing.
/// @return bytes that are there now, or nothing where nothing was done
std::optional<std::uint64_t> keep_within(const Descriptor& folder, std::uint64_t limit,
                                         std::string_view spared);

}  // namespace quarry::detail
