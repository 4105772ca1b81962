/// Where groups begin and how long they are, 32 at a time: a lane each. So many groups cost no more than a
/// few reads one after another.
#pragma once

#include "arch/arch.hpp"
#include "grouped_gemm_sm90/params.hpp"

namespace quarry::grouped_gemm_sm90 {

/// Groups of a warp's lanes: the first row (or position of K) of this lane's, and how many there are; where
/// the tiles end of this one and those before.
struct LaneGroups {
  int first;
  int count;
  int tile_end;
};

/// What two pieces of the room make together, by the rules of group_span (grouped_gemm/params.hpp): ends are
/// the greatest so far, counts add up, and both stay in the room. Neither piece is beyond it.
QUARRY_DEVICE int joined(const GroupParams& params, int one, int other) {
  if (params.sizes_are_ends) return one > other ? one : other;
  return one > params.room - other ? params.room : one + other;
}

/// Reads groups from `first_group` on; all lanes of a warp together. A function that is called, as each walk
/// of a kernel needs it in some places.
/// @param before the groups before these: where the last one ends, and where its tiles do
/// @param tile_rows rows of a tile; 0: each group has `tiles`
/// @param tiles columns of tiles
QUARRY_DEVICE LaneGroups read_groups(const GroupParams& params, int first_group, LaneGroups before,
                                     int tile_rows, int tiles) {
  const int lane = arch::lane_index();
  const bool is_group = first_group + lane < params.groups;
  int end = is_group ? clamped_end(params, arch::global_load<int>(params.sizes + first_group + lane), 0) : 0;
  LaneGroups groups = {0, end, 0};
  if (params.form != GroupForm::masked) {
    QUARRY_ROLLED
    for (int step = 1; step < 32; step *= 2) {
      const int other = arch::shuffle(end, lane - step);
      if (lane >= step) end = joined(params, end, other);
    }
    const int rows_before = before.first + before.count;
    end = joined(params, end, rows_before);
    const int end_before = arch::shuffle(end, lane - 1);
    groups.first = lane == 0 ? rows_before : end_before;
    groups.count = end - groups.first;
  }
  if (is_group)
    groups.tile_end =
        tile_rows == 0 ? tiles : (groups.count / tile_rows + (groups.count % tile_rows != 0)) * tiles;
  QUARRY_ROLLED
  for (int step = 1; step < 32; step *= 2) {
    const int other = arch::shuffle(groups.tile_end, lane - step);
    if (lane >= step) groups.tile_end += other;
  }
  groups.tile_end += before.tile_end;
  return groups;
}

/// What the last lane has.
QUARRY_DEVICE LaneGroups last_of(const LaneGroups& groups) {
  return {arch::shuffle(groups.first, 31), arch::shuffle(groups.count, 31),
          arch::shuffle(groups.tile_end, 31)};
}

}  // namespace quarry::grouped_gemm_sm90
