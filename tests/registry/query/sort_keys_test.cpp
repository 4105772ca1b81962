/// Keys by which a query ranks, sorted by digits: the same as std::sort does.
#include "registry/query/sort_keys.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "support/catch_compat.hpp"

using namespace quarry::detail;

namespace {

using Random = std::mt19937_64;

/// @param exponent of a time in seconds, drawn evenly
std::vector<RankKey> drawn_keys(Random& random, std::size_t count, double least, double greatest) {
  std::uniform_real_distribution<double> exponent(least, greatest);
  std::vector<RankKey> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto seconds = static_cast<float>(std::pow(10, exponent(random)));
    keys[i] = RankKey{std::bit_cast<std::uint32_t>(seconds)} << 32 | i;
  }
  return keys;
}

void check_sorted(std::vector<RankKey> keys) {
  std::vector<RankKey> expected = keys;
  std::sort(expected.begin(), expected.end());
  sort_keys(keys);
  REQUIRE(keys == expected);
}

}  // namespace

TEST_CASE("keys are sorted by digits as by comparing, however many and however far apart", "[query]") {
  const auto seed = GENERATE(1U, 2U, 3U);
  INFO("seed " << seed);
  Random random(seed);
  std::uniform_int_distribution<std::size_t> counts(0, 1200);
  std::uniform_real_distribution<double> exponents(-9, 3);
  for (int i = 0; i < 500; ++i) {
    const double least = exponents(random);
    const double spread = std::pow(10, exponents(random) / 3);
    check_sorted(drawn_keys(random, counts(random), least, least + spread));
  }
}

TEST_CASE("keys of the same time keep their order, and one far off disturbs none", "[query]") {
  Random random(4);
  for (const std::size_t count : {0, 1, 2, 63, 64, 65, 200, 1023, 1024, 1025}) {
    CAPTURE(count);
    std::vector<RankKey> keys = drawn_keys(random, count, -5, -5);
    check_sorted(keys);
    if (count == 0) continue;
    for (const float far : {0.0F, 1e-30F, 1e30F, HUGE_VALF}) {
      keys[random() % count] = RankKey{std::bit_cast<std::uint32_t>(far)} << 32;
      check_sorted(keys);
    }
    std::vector<RankKey> falling = drawn_keys(random, count, -5.0001, -5);
    std::sort(falling.rbegin(), falling.rend());
    falling[0] = RankKey{std::bit_cast<std::uint32_t>(1.0F)} << 32;
    check_sorted(falling);
  }
}
