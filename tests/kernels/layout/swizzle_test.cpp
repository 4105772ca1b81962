/// Swizzles and their composition with layouts against index enumeration.
#include "layout/swizzle.hpp"

#include "support/random_layout.hpp"

namespace quarry::layout {
namespace {

using namespace test;

constexpr Swizzle bytes128 = {3, 4, 3};
static_assert(bytes128(128) == 128 + 16 && bytes128(1024 + 7 * 128 + 5 * 16) == 1024 + 7 * 128 + 2 * 16);
static_assert(bytes128.period() == 1024 && Swizzle().period() == 1 && Swizzle()(77) == 77);
static_assert(composition(bytes128, compact(16, 64))(128) == 128 + 16);

Swizzle random_swizzle(Random& random) {
  const int bits = between(random, 0, 4);
  const int shift = between(random, bits, bits + 2);
  return {bits, between(random, 0, 4), coin(random) ? shift : -shift};
}

TEST_CASE("swizzles permute each of their periods") {
  QUARRY_SEEDED(random);
  for (int trial = 0; trial < layout_trials; ++trial) {
    const Swizzle s = random_swizzle(random);
    INFO("Swizzle " << s.bits << " " << s.base << " " << s.shift);
    REQUIRE(s.valid());
    const int distance = std::abs(s.shift);
    const int source = s.base + (s.shift > 0 ? distance : 0);
    const int target = s.base + (s.shift > 0 ? 0 : distance);
    for (int repeat = 0; repeat < 16; ++repeat) {
      const int x = between(random, 0, 1 << 20);
      const int y = between(random, 0, 1 << 14);
      // From the definition, bit by bit.
      int expected = x;
      for (int bit = 0; bit < s.bits; ++bit) expected ^= (x >> (source + bit) & 1) << (target + bit);
      REQUIRE(s(x) == expected);
      REQUIRE(s(s(x)) == x);
      REQUIRE(s(x ^ y) == (s(x) ^ s(y)));
      REQUIRE(s(x + y * s.period()) == s(x) + y * s.period());
    }
    if (trial % 100 != 0) continue;
    std::vector<int> all = offsets(s, s.period());
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(all[i] == static_cast<int>(i));
  }
}

TEST_CASE("swizzles after layouts") {
  QUARRY_SEEDED(random);
  int composed = 0;
  while (composed < layout_trials) {
    const Swizzle s = random_swizzle(random);
    const Layout l = random_layout(random, Strides::apart);
    const Layout inner = random_layout(random, Strides::apart, 2);
    const int start = between(random, 0, 64);
    const SwizzledLayout outer = {s, l, start};
    INFO(l << " o " << inner);
    for (int i = 0; i < size(l); ++i) {
      REQUIRE(composition(s, l)(i) == s(l(i)));
      REQUIRE(outer(i) == s(start + l(i)));
    }
    if (rank(l) > 1) REQUIRE(outer(0, 1) == s(start + l(0, 1)));
    // Where a period begins, a start adds up.
    const SwizzledLayout moved = {s, l, start * s.period()};
    REQUIRE(moved(size(l) - 1) == start * s.period() + s(l(size(l) - 1)));
    const SwizzledLayout result = composition(outer, inner);
    REQUIRE(result.layout.fault == composition(l, inner).fault);
    if (!result.layout) continue;
    ++composed;
    for (int i = 0; i < size(inner); ++i) REQUIRE(result(i) == outer(inner(i)));
  }
}

TEST_CASE("swizzles whose bits are not apart, or not there, change nothing") {
  for (const Swizzle& s : {Swizzle{3, 4, 2}, Swizzle{3, 4, -2}, Swizzle{-1, 4, 3}, Swizzle{1, -1, 3},
                           Swizzle{3, 28, 3}, Swizzle{31, 0, 31}, Swizzle{1, 1, 2147483647},
                           Swizzle{1, 1, -2147483647 - 1}, Swizzle{2147483647, 2147483647, 2147483647}}) {
    CHECK(!s.valid());
    CHECK(s(0x3fffffff) == 0x3fffffff);
    CHECK(s.period() == 1);
  }
  CHECK(Swizzle{0, 4, 3}.valid());
  CHECK(Swizzle{3, 4, -3}.valid());
}

}  // namespace
}  // namespace quarry::layout
