/// Slices of K, balanced with and without roots that were computed before.
#include "gemm/split_k.hpp"

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
