/// Random choices, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace quarry::lab {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  /// From least to greatest.
  std::int64_t between(std::int64_t least, std::int64_t greatest) {
    return least + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(greatest - least + 1));
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  template <class T, std::size_t N>
  T one_of(const T (&values)[N]) {
    return values[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(N) - 1))];
  }
  /// From 0 up to, but not, 1.
  double fraction() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace quarry::lab
