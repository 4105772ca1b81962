/// How many tiles groups are expected to have, beside what groups of all sizes take, and how long all tiles
/// take, beside rounds that are counted.
#include "grouped_gemm/expected_time.hpp"

#include <cmath>

#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

/// Means over groups whose sizes are spread exponentially: tiles, and how many of the last ones take half.
struct Means {
  double tiles = 0;
  double halves = 0;
};
Means means_over_sizes(double mean_rows, const TileSteps& steps) {
  constexpr int parts = 4;  // of a row
  Means means;
  for (int part = 0; part < 60 * parts * mean_rows; ++part) {
    const double rows = (part + 0.5) / parts;
    const double share = std::exp(-rows / mean_rows) / (parts * mean_rows);
    const double full = std::floor(rows / steps.tile_m);
    means.tiles += share * (full + 1);
    means.halves += share * (rows - full * steps.tile_m <= steps.half_rows ? 1 : 0);
  }
  return means;
}

/// A kernel that takes a second a round of 132 tiles, whatever they are: all of it math, or half of it and
/// device memory the same.
Account in_rounds(const GemmProblem& batch, int tile_m, int tiles_n, double memory) {
  const int tiles = batch.batch * ((batch.m + tile_m - 1) / tile_m) * tiles_n;
  Account account = {};
  account[TimePart::math] = (tiles + 131) / 132;
  account[TimePart::memory] = memory;
  account.seconds = account[TimePart::math] + memory;
  return account;
}

struct Groups {
  int groups = 8;
  int room = 8192;
  int largest = 0;  ///< 0: not known
};

/// Seconds of 8,192 rows by tiles of 128 rows and 16 columns of them.
double seconds_of_groups(const TileSteps& steps, double memory, const Groups& groups = {}) {
  GroupedGemmProblem problem = {};
  problem.gemm.m = groups.room;
  problem.groups.room = groups.room;
  problem.groups.groups = groups.groups;
  problem.expected_total = 8192;
  problem.expected_largest = groups.largest;
  return expected_time(steps, problem,
                       [&](const GemmProblem& batch) { return in_rounds(batch, steps.tile_m, 16, memory); })
      .seconds;
}

}  // namespace

TEST_CASE("Expected tiles are the mean of what groups take between random cuts", "[grouped_gemm]") {
  for (const TileSteps steps : {TileSteps{64}, TileSteps{128, 64}, TileSteps{256, 128}, TileSteps{256, 64}}) {
    for (const double rows : {8.0, 64.0, 100.0, 1024.0}) {
      const Means means = means_over_sizes(rows, steps);
      INFO(steps.tile_m << " " << steps.half_rows << ", " << rows << " rows");
      const GroupTiles expected = expected_tiles(rows, steps, 1 << 20);
      CHECK(std::abs(expected.count - means.tiles) < 0.01);
      CHECK(std::abs(expected.saved - 0.5 * means.halves) < 0.01);
    }
  }
}

TEST_CASE("Expected tiles are at least one, and no more than the room has", "[grouped_gemm]") {
  CHECK(expected_tiles(3, {128}, 4096).count == Approx(1));
  CHECK(expected_tiles(0, {64}, 4096).count == 1);
  CHECK(expected_tiles(0, {128, 64}, 4096).saved == Approx(0.5));
  CHECK(expected_tiles(100, {128}, 4096).saved == 0);
  CHECK(expected_tiles(500, {128}, 512).count == 4);
  CHECK(expected_tiles(540, {128, 64}, 540).count == 5);
  CHECK(expected_tiles(540, {128, 64}, 540).saved == 0.5);
}

TEST_CASE("Groups of known sizes have the tiles of these", "[grouped_gemm]") {
  // Of 512 rows the last tile is whole, of 540 it has 28 rows, of 600 it has 88.
  CHECK((exact_tiles(512, {128, 64}).count == 4 && exact_tiles(512, {128, 64}).saved == 0));
  CHECK((exact_tiles(540, {128, 64}).count == 5 && exact_tiles(540, {128, 64}).saved == 0.5));
  CHECK((exact_tiles(600, {128, 64}).count == 5 && exact_tiles(600, {128, 64}).saved == 0));
  CHECK(exact_tiles(0, {128, 64}).count == 1);
  // 8 groups of 1,024 rows: 8 tiles each, or with one of 4,096 rows 32 of it and 5.09 of the
  // others (585 rows on average): 8.45.
  const TileSteps steps = {128};
  CHECK(seconds_of_groups(steps, 0, {.groups = 8, .largest = 1024}) == 8);
  CHECK(seconds_of_groups(steps, 0, {.groups = 8, .largest = 1}) == 8);
  CHECK(seconds_of_groups(steps, 0, {.groups = 8, .largest = 4096}) == Approx(8.45).margin(0.01));
  // One group has all rows, whatever there is room for.
  CHECK(seconds_of_groups(steps, 0, {.groups = 1, .room = 10000}) == 8);
}

TEST_CASE("Groups take as many rounds as all of their tiles do together", "[grouped_gemm]") {
  // 8.51 tiles a group, 16 columns: 8.25 times as many as run at one time. Between 8 rounds (8 tiles each)
  // and 9 (9 tiles each) lie 8.51.
  CHECK(seconds_of_groups({128}, 0) == Approx(8.51).margin(0.01));
  CHECK(seconds_of_groups({128, 0, 16, 132}, 0) == Approx(9));
  // Of them 0.258 a group are saved, where the last tile has 64 rows at most.
  CHECK(seconds_of_groups({128, 64, 16, 132}, 0) == Approx(9 * (1 - 0.258 / 8.51)).margin(0.01));
  // What memory hides is not seen.
  CHECK(seconds_of_groups({128, 0, 16, 132}, 20) == Approx(20 + 8.51 + 0.6 * 0.49).margin(0.01));
}
