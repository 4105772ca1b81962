/// Random choices that depend on a seed only: no distribution of the standard library, no floating
/// point.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quarry::golden {

/// SplitMix64.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }

  /// From least to greatest.
  std::int64_t between(std::int64_t least, std::int64_t greatest) {
    return least + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(greatest - least + 1));
  }

  bool one_in(std::int64_t n) { return between(1, n) == 1; }

  template <class T, std::size_t N>
  T one_of(const T (&values)[N]) {
    return values[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(N) - 1))];
  }

  /// @pre there is one
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(values.size()) - 1))];
  }

  /// From 1 to `most`; each doubling is as likely as any other.
  std::int64_t log_uniform(std::int64_t most) {
    const std::int64_t low = std::int64_t{1}
                             << between(0, std::bit_width(static_cast<std::uint64_t>(most)) - 1);
    const std::int64_t high = 2 * low - 1;
    return between(low, high < most ? high : most);
  }

 private:
  std::uint64_t state_;
};

}  // namespace quarry::golden
