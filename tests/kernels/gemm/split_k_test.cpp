/// Slices of K, balanced with and without roots that were computed before, and what is told without a
/// division.
#include "gemm/split_k.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "support/catch_compat.hpp"

using namespace quarry;

TEST_CASE("roots that were there before balance slices as the root of the quotient does", "[gemm]") {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int> tiles(2, 4000);
  std::uniform_int_distribution<int> whole(2, 40);
  std::uniform_real_distribution<double> exponent(-9, -4);
  const Controls open;
  for (int i = 0; i < 200000; ++i) {
    const int k_tiles = tiles(random);
    const double slice = std::pow(10, exponent(random));
    // Every other one balances at a whole number of slices, or just beside it.
    const double balance = whole(random);
    const double alone = i % 2 == 0 ? std::pow(10, exponent(random)) : balance * balance * slice / k_tiles;
    SplitKWork work = {.fixed = open,
                       .max_workspace = 0,
                       .limits = {.least_k_tiles_per_slice = 4},
                       .k_tiles = k_tiles,
                       .tiles = 1,
                       .cluster = 1,
                       .at_once = 132,
                       .alone_root = std::sqrt(alone)};
    SplitKWay way = {.mode = Mode::split_k_serial, .most_slices = 64, .once = 0, .slice = slice};
    const int expected = balanced_slices(work, way);
    work.k_root = std::sqrt(k_tiles);
    way.balance = work.alone_root / std::sqrt(slice);
    REQUIRE(balanced_slices(work, way) == expected);
  }
}

TEST_CASE("what a query tells without a division is what divisions say", "[gemm]") {
  std::mt19937_64 random(11);
  const auto draw = [&random](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (int i = 0; i < 200000; ++i) {
    const int extent = draw(0, i % 2 == 0 ? 300 : 1 << 30);
    const int tile = draw(1, 300);
    CAPTURE(extent, tile);
    REQUIRE(few_tiles_along(extent, tile) == tiles_along(extent, tile));
    const int k_tiles = draw(2, i % 2 == 0 ? 100 : 100000);
    const int slices = draw(1, std::min(k_tiles, 100));
    const int each = tiles_along(k_tiles, slices);
    CAPTURE(k_tiles, slices);
    REQUIRE(busy_slices(k_tiles, slices, each) == tiles_along(k_tiles, each));
  }
}

TEST_CASE("K may be cut where at most half of what runs at once has a tile", "[gemm]") {
  const Controls open;
  for (int at_once = 1; at_once < 40; ++at_once) {
    for (int tiles = 1; tiles < 100; ++tiles) {
      for (int rounds = 1; rounds < 4; ++rounds) {
        const SplitKWork work = {.fixed = open,
                                 .max_workspace = 0,
                                 .limits = {.least_k_tiles_per_slice = 4, .most_rounds = rounds},
                                 .k_tiles = 8,
                                 .tiles = tiles,
                                 .cluster = 1,
                                 .at_once = at_once,
                                 .alone_root = 1};
        CAPTURE(at_once, tiles, rounds);
        REQUIRE(may_cut(work, 1) == (tiles <= rounds * at_once / 2));
      }
    }
  }
}
