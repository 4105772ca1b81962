#include "grouped_gemm_sm90/bands.hpp"

#include <limits>
#include <random>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

TEST_CASE("tiles of a band are numbered down its columns", "[grouped_gemm]") {
  const Bands bands = bands_of(128, 7);
  CHECK(bands.tiles.size == 16 * 7);
  const auto check = [&](int tile, int rows) {
    INFO(tile << " of " << rows << " rows");
    const Divided place = place_in_band(bands, tile, rows);
    CHECK(place.quotient == tile / rows);
    CHECK(place.rest == tile % rows);
  };
  constexpr int most = std::numeric_limits<int>::max();
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  for (int rows = 1; rows <= most_band_tiles; ++rows) {
    for (const int tile : {0, rows - 1, rows, 1000 * rows - 1, 1000 * rows, most - rows, most - 1, most})
      check(tile, rows);
    for (int i = 0; i < 500; ++i) check(static_cast<int>(random() >> (1 + random() % 31)), rows);
  }
}
