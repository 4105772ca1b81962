#include "common/divisor.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

TEST_CASE("a multiplication and a shift divide as a division does", "[divisor]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  constexpr int most = std::numeric_limits<int>::max();
  const auto check = [](int index, int by) {
    const Divided divided = divide(index, divisor_of(by));
    INFO(index << " / " << by);
    CHECK(divided.quotient == index / by);
    CHECK(divided.rest == index % by);
  };
  for (int by = 1; by < 300; ++by) {
    for (const int index : {0, 1, by - 1, by, by + 1, 1000 * by - 1, 1000 * by, most - 1, most})
      check(index, by);
  }
  for (int i = 0; i < 20000; ++i) {
    const auto drawn = [&](int bits) { return static_cast<int>(random() & ((1ULL << bits) - 1)); };
    check(drawn(31), std::max(1, drawn(1 + static_cast<int>(random() % 31))));
  }
  check(most, most);
  check(most - 1, most);
}
