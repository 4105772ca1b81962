/// Entries that are not in the table, of kernels that the program made. Their numbers follow on the numbers
/// of the table; they stay where they are to the end of the process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operations/common/row.hpp"

namespace quarry::detail {

/// How many there can be.
inline constexpr std::uint32_t most_own_entries = 1U << 20;

/// Whether an entry is of the table, by which unit, resources and profiles are indexed.
inline bool is_in_table(std::uint32_t entry) { return entry < entries().size(); }

/// Adds an entry, not precompiled, and gives its number; nothing when there are most_own_entries. One thread
/// at a time; others may read with entry_of. Throws std::bad_alloc, having added nothing.
std::optional<std::uint32_t> add_own_entry(std::string name);

/// How many different device models are told apart (see device_number).
inline constexpr int most_devices = 16;

/// Where the profile of such an entry on a device is kept, of its operation's type (see profile_of); null: it
/// is not computed yet. @pre the entry is not of the table
std::atomic<const void*>& own_profile(std::uint32_t entry, std::size_t device);

}  // namespace quarry::detail
