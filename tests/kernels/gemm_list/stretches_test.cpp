/// Which stretch of a list a tile is of.
#include "gemm_list/stretches.hpp"

#include <algorithm>
#include <random>

#include "gemm_list/problem.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

TEST_CASE("a tile is of the first stretch that ends behind it", "[gemm_list]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int repeat = 0; repeat < 200; ++repeat) {
    ListStretches list = {.problems = 1, .ends = {}};
    long long end = 0;
    for (long long& each : list.ends) each = end += static_cast<long long>(random() % 3);
    for (long long tile = 0; tile < end + 3; ++tile) {
      const auto* const found = std::ranges::find_if(list.ends, [&](long long each) { return tile < each; });
      REQUIRE(stretch_of(list, tile) == found - list.ends);
    }
  }
}

TEST_CASE("stretches hold the tiles of as many problems each", "[gemm_list]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const int count = static_cast<int>(1 + random() % 300);
    std::vector<std::int32_t> sizes;
    for (int i = 0; i < 3 * count; ++i) sizes.push_back(static_cast<std::int32_t>(random() % 300) - 50);
    GemmListProblem problem = {};
    problem.gemm.m = problem.gemm.n = problem.gemm.k = 200;
    problem.gemm.batch = count;
    problem.host_sizes = sizes.data();
    const ListStretches list = stretches_of(problem, {64, 32, 16});
    REQUIRE(list.problems >= 1);
    REQUIRE(list.problems * list_stretches >= count);
    long long tiles = 0;
    for (int i = 0; i < count; ++i) {
      const auto parts = [&](int extent, int size) { return (std::clamp(extent, 0, 200) + size - 1) / size; };
      tiles += parts(sizes[3 * i], 64) * parts(sizes[3 * i + 1], 32);
      if ((i + 1) % list.problems == 0) REQUIRE(list.ends[i / list.problems] == tiles);
    }
    CHECK(list.ends[list_stretches - 1] == tiles);
  }
}
