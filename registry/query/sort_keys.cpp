#include "registry/query/sort_keys.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <numeric>

namespace quarry::detail {
namespace {

/// Of fewer keys, counting digits takes longer than comparing. Of more, insertion might take long: where
/// nearly all times are alike and one is far off.
constexpr std::size_t fewest = 64;
constexpr std::size_t most = 1024;

constexpr int digit_bits = 7;
using Places = std::array<std::uint32_t, 1U << digit_bits>;

/// One of the two leading digits of where times lie between the least and the greatest one.
struct Digit {
  RankKey least;
  int shift;

  std::size_t of(RankKey key) const { return (key - least) >> shift & ((1U << digit_bits) - 1); }
};

/// Where the keys of each digit go, from how many there are.
void begin_each(Places& counts) {
  std::exclusive_scan(counts.begin(), counts.end(), counts.begin(), std::uint32_t{0});
}

/// Puts each key where it belongs, looking from where it is: nearly all are there.
void insert_each(std::vector<RankKey>& keys) {
  for (std::size_t i = 1; i < keys.size(); ++i) {
    const RankKey key = keys[i];
    std::size_t place = i;
    for (; place > 0 && keys[place - 1] > key; --place) keys[place] = keys[place - 1];
    keys[place] = key;
  }
}

}  // namespace

void sort_keys(std::vector<RankKey>& keys) {
  if (keys.size() < fewest || keys.size() > most) return std::sort(keys.begin(), keys.end());
  RankKey least = keys.front();
  RankKey greatest = least;
  for (const RankKey key : keys) {
    least = std::min(least, key);
    greatest = std::max(greatest, key);
  }
  const auto width = static_cast<int>(std::bit_width((greatest - least) >> 32));
  const Digit second = {least, 32 + std::max(0, width - 2 * digit_bits)};
  const Digit first = {least, second.shift + digit_bits};
  Places first_places = {};
  Places second_places = {};
  for (const RankKey key : keys) {
    ++first_places[first.of(key)];
    ++second_places[second.of(key)];
  }
  begin_each(first_places);
  begin_each(second_places);
  std::array<RankKey, most> by_second;  // not cleared: its beginning is written
  for (const RankKey key : keys) by_second[second_places[second.of(key)]++] = key;
  const std::size_t count = keys.size();
  for (std::size_t i = 0; i < count; ++i) keys[first_places[first.of(by_second[i])]++] = by_second[i];
  insert_each(keys);
}

}  // namespace quarry::detail
