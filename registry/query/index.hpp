/// From a problem to the rows that compute its types and layouts, and from names to rows and entries of the
/// table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "operations/common/row.hpp"

namespace quarry::detail {

/// Some ranges of rows, in registry order: the rows of the functional keys of one problem. At most sixteen.
class RowRanges {
 public:
  const KeyRange* begin() const { return ranges_; }
  const KeyRange* end() const { return ranges_ + count_; }
  bool empty() const { return count_ == 0; }
  /// Rows in all ranges.
  std::size_t rows() const;
  /// Adds a range. @pre at most 31 are there
  void add(const KeyRange& range);

 private:
  KeyRange ranges_[32];
  int count_ = 0;
};

/// The rows of a functional key; null where there are none. Binary search.
const KeyRange* find_key(std::span<const KeyRange> sorted, std::uint64_t key);

/// The registered kernel of this name; null where there is none. Binary search.
const Row* find_registered_row(std::string_view name);

/// The entry of the table of this name. Binary search.
std::optional<std::uint32_t> find_registered_entry(std::string_view name);

}  // namespace quarry::detail
