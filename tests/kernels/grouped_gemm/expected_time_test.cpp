/// How many tiles a group is expected to have, beside what tiles of all numbers of rows take.
#include "grouped_gemm/expected_time.hpp"

#include <cmath>

#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

/// Tiles that rows take: a last one of half of the time counts as half.
double tiles_of(int rows, const RowSteps& steps) {
  const int rest = rows % steps.tile_m;
  return rows / steps.tile_m + (rest == 0 ? 0 : rest <= steps.half_rows ? 0.5 : 1);
}

GroupParams with_room(int room) {
  GroupParams groups = {};
  groups.room = room;
  return groups;
}

}  // namespace

TEST_CASE("Expected tiles are the mean of what groups take whose sizes are spread evenly", "[grouped_gemm]") {
  const GroupParams groups = with_room(1 << 20);
  for (const RowSteps steps : {RowSteps{64}, RowSteps{128, 64}, RowSteps{256, 128}, RowSteps{256, 64}}) {
    double expected = 0;
    double taken = 0;
    for (int rows = 10 * steps.tile_m; rows < 11 * steps.tile_m; ++rows) {
      expected += expected_tiles(rows, steps, groups);
      taken += tiles_of(rows, steps);
    }
    INFO(steps.tile_m << " " << steps.half_rows);
    CHECK(std::abs(expected - taken) < 0.01 * taken);
  }
}

TEST_CASE("Expected tiles are at least one, and no more than the room has", "[grouped_gemm]") {
  CHECK(expected_tiles(3, {128, 64}, with_room(4096)) == 1);
  CHECK(expected_tiles(0, {64}, with_room(4096)) == 1);
  CHECK(expected_tiles(512, {128, 64}, with_room(512)) == 4);
  CHECK(expected_tiles(500, {128}, with_room(512)) == 4);
}
