/// Tiles as kernels of gemm_sm90 find them, by the host's divisors, against the tiles of work_at, which
/// divides.
#include "gemm_sm90/tile_finder.hpp"

#include <random>

#include "gemm_sm90/work_list.cuh"
#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

constexpr int tile_k = 64;

void check(const GemmParams& params, unsigned position) {
  CAPTURE(params.batch, params.tiles_m, params.tiles_n, params.swizzle_log2, params.slices, params.k,
          params.k_tiles_per_slice, static_cast<int>(params.raster), position);
  const TileWork found = gemm_sm90::work_at(params, tile_finder(params, tile_k), position);
  const TileWork work = work_at(params, position, tile_k);
  REQUIRE(found.batch == work.batch);
  REQUIRE(found.slice == work.slice);
  REQUIRE(found.tile_m == work.tile_m);
  REQUIRE(found.tile_n == work.tile_n);
  REQUIRE(found.first_k_tile == work.first_k_tile);
  REQUIRE(found.k_tiles == work.k_tiles);
}

}  // namespace

TEST_CASE("the host's divisors find the tiles of all positions", "[gemm_sm90]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto between = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  for (int i = 0; i < 400; ++i) {
    const int most = i % 8 == 0 ? 30000 : 20;
    GemmParams params = {};
    params.m = params.n = 1;
    params.k = between(0, 3000);
    params.batch = between(1, 3);
    params.tiles_m = between(1, most);
    params.tiles_n = between(1, most);
    params.swizzle_log2 = between(0, 3);
    params.raster = between(0, 1) == 0 ? Raster::along_n : Raster::along_m;
    params.slices = most > 20 || between(0, 1) == 0 ? 1 : between(2, 9);
    const int k_tiles = (params.k + tile_k - 1) / tile_k;
    params.k_tiles_per_slice = (k_tiles + params.slices - 1) / params.slices + between(0, 1);
    if (most > 20) params.batch = 1;
    const TileFinder finder = tile_finder(params, tile_k);
    REQUIRE(finder.works == params.batch * params.tiles_m * params.tiles_n * params.slices);
    REQUIRE(finder.k_tiles == k_tiles);
    const auto all = static_cast<unsigned>(finder.works);
    if (all < 40000) {
      for (unsigned position = 0; position < all; ++position) check(params, position);
    } else {
      for (int j = 0; j < 2000; ++j) check(params, static_cast<unsigned>(random() % all));
      check(params, all - 1);
    }
  }
}
