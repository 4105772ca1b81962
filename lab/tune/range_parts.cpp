#include "lab/tune/range_parts.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lab/tune/problem_key.hpp"
#include "lab/tune/tasks.hpp"

namespace quarry::lab {
namespace {

/// The values of a range with one number of twos.
struct KeyedValues {
  MRange range;
  /// The keys of the least of them above 1, and of the greatest: of few values, or of long strides, one alone
  /// may say less.
  std::pair<detail::Digest, detail::Digest> keys;
};

Result<detail::Digest> digest_at(const Problem& problem, std::int64_t m) {
  const Result<detail::TuningKey> key = problem_key(with_m(problem, m));
  if (!key) return key.status();
  return key->digest;
}

/// The least value above 1, which may have a key of its own; 1 where it is the only one. Absent where the
/// range has none.
std::optional<std::int64_t> least_in(const MRange& range) {
  const auto least = nearest_in({std::max<std::int64_t>(range.low, 2), range.high, range.twos}, 1);
  return least ? least : nearest_in(range, 1);
}

/// The part that has the keys of some values, which become part of it; a new one where none has.
std::size_t add_to(std::vector<KeyedValues>& parts, const KeyedValues& values) {
  const auto same = std::ranges::find(parts, values.keys, &KeyedValues::keys);
  const auto place = static_cast<std::size_t>(same - parts.begin());
  if (same == parts.end()) {
    parts.push_back(values);
  } else {
    same->range.twos |= values.range.twos;
  }
  return place;
}

}  // namespace

Result<RangeParts> parts_of(const Problem& problem, const MRange& range) {
  RangeParts made;
  std::vector<KeyedValues> parts;
  // Numbers of twos that no value has join the part of the ones before, so that few words name a part.
  std::size_t part = 0;
  TwosOfM absent = 0;
  for (int bit = twos_bits - 1; bit >= 0; --bit) {
    const MRange values{range.low, range.high, static_cast<TwosOfM>(range.twos & 1U << bit)};
    const std::optional<std::int64_t> least = least_in(values);
    const bool has_keys = least && (*least > 1 || parts.empty());
    if (!has_keys) {
      (parts.empty() ? absent : parts[part].range.twos) |= values.twos;
      continue;
    }
    const Result<detail::Digest> first = digest_at(problem, *least);
    if (!first) {
      made.refused |= values.twos;
      made.why = first.status();
      continue;
    }
    const Result<detail::Digest> last = digest_at(problem, *nearest_in(values, range.high));
    part = add_to(parts, {values, {*first, last ? *last : *first}});
    parts[part].range.twos |= std::exchange(absent, TwosOfM{0});
  }
  if (parts.empty()) return made.why;
  for (const KeyedValues& each : parts) made.parts.push_back(each.range);
  return made;
}

}  // namespace quarry::lab
