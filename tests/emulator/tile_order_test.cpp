/// The order of tiles as the device knows it, against the host's inverse.
#include "common/tile_order.hpp"

#include <random>

#include "common/tile_scheduler.cuh"
#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

TEST_CASE("the position of a tile is the one at which blocks find it") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto between = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  for (int i = 0; i < 300; ++i) {
    GemmParams params = {};
    params.m = params.n = params.k = 1;
    params.batch = between(1, 3);
    params.tiles_m = between(1, 20);
    params.tiles_n = between(1, 20);
    params.swizzle_log2 = between(0, 3);
    params.raster = between(0, 1) == 0 ? Raster::along_n : Raster::along_m;
    params.slices = 1;
    CAPTURE(params.batch, params.tiles_m, params.tiles_n, params.swizzle_log2,
            static_cast<int>(params.raster));
    const auto all = static_cast<unsigned>(params.batch * params.tiles_m * params.tiles_n);
    for (unsigned position = 0; position < all; ++position) {
      const TileWork work = work_at(params, position, 1);
      REQUIRE(work.tile_m >= 0);
      REQUIRE(work.tile_m < params.tiles_m);
      REQUIRE(work.tile_n >= 0);
      REQUIRE(work.tile_n < params.tiles_n);
      REQUIRE(tile_position(params, work.batch, work.tile_m, work.tile_n) == position);
    }
  }
}
