#include "gemm_list_sm90/bands.hpp"

#include <random>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry::gemm_list_sm90;

namespace {

/// Walks over all tiles: each place is met once, no band before the one above it is done, and within a band
/// each column is walked down.
template <unsigned band>
void check_walk(unsigned rows, unsigned columns) {
  INFO(rows << " by " << columns << " tiles, in bands of " << band);
  std::vector<int> met(rows * columns, 0);
  TilePlace before = {-1, 0};
  for (unsigned tile = 0; tile < rows * columns; ++tile) {
    const TilePlace place = place_in_bands<band>(tile, rows, columns);
    REQUIRE(place.m >= 0);
    REQUIRE(place.n >= 0);
    REQUIRE(static_cast<unsigned>(place.m) < rows);
    REQUIRE(static_cast<unsigned>(place.n) < columns);
    ++met[static_cast<unsigned>(place.m) * columns + static_cast<unsigned>(place.n)];
    const bool goes_down = place.n == before.n && place.m == before.m + 1;
    const bool next_column = place.n == before.n + 1 && place.m % static_cast<int>(band) == 0;
    const bool next_band = place.n == 0 && place.m == before.m + 1 && place.m % static_cast<int>(band) == 0;
    REQUIRE((goes_down || next_column || next_band));
    before = place;
  }
  CHECK(met == std::vector<int>(rows * columns, 1));
}

}  // namespace

TEST_CASE("tiles of a list's problem are walked in bands", "[gemm_list]") {
  const auto seed = quarry::lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  for (const unsigned rows : {1U, 7U, 8U, 9U, 15U, 16U, 17U, 32U, 33U, 40U}) {
    for (const unsigned columns : {1U, 2U, 5U, 1 + static_cast<unsigned>(random() % 40)}) {
      check_walk<8>(rows, columns);
      check_walk<10>(rows, columns);
      check_walk<32>(rows, columns);
    }
  }
  // As many tiles as a problem may have.
  constexpr TilePlace last = place_in_bands<16>((1U << 31) - 2, (1U << 31) - 1, 1);
  CHECK(last.m == (1LL << 31) - 2);
  CHECK(last.n == 0);
  constexpr TilePlace other = place_in_bands<16>((1U << 31) - 2, 1, (1U << 31) - 1);
  CHECK(other.m == 0);
  CHECK(other.n == (1LL << 31) - 2);
}
