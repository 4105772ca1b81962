#include "registry/query/index.hpp"

#include <algorithm>
#include <iterator>

namespace quarry::detail {

std::size_t RowRanges::rows() const {
  std::size_t sum = 0;
  for (const KeyRange& range : *this) sum += range.end - range.begin;
  return sum;
}

void RowRanges::add(const KeyRange& range) {
  int at = count_++;
  for (; at > 0 && ranges_[at - 1].begin > range.begin; --at) ranges_[at] = ranges_[at - 1];
  ranges_[at] = range;
}

const KeyRange* find_key(std::span<const KeyRange> sorted, std::uint64_t key) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), key,
                                      [](const KeyRange& range, std::uint64_t k) { return range.key < k; });
  return found != sorted.end() && found->key == key ? &*found : nullptr;
}

const Row* find_registered_row(std::string_view name) {
  const std::span<const std::uint32_t> sorted = rows_by_name();
  const auto found =
      std::ranges::lower_bound(sorted, name, {}, [](std::uint32_t i) { return rows()[i].metadata.name; });
  if (found == sorted.end() || rows()[*found].metadata.name != name) return nullptr;
  return &rows()[*found];
}

std::optional<std::uint32_t> find_registered_entry(std::string_view name) {
  const std::span<const std::uint32_t> sorted = entries_by_name();
  const auto found =
      std::ranges::lower_bound(sorted, name, {}, [](std::uint32_t i) { return entries()[i].name; });
  if (found == sorted.end() || entries()[*found].name != name) return std::nullopt;
  return *found;
}

}  // namespace quarry::detail
