/// Which tiles of which groups a block computes, one after another: what gemm_sm90 has as WorkList.
#pragma once

#include "gemm_sm90/work_list.cuh"
#include "grouped_gemm/schedule.cuh"
#include "grouped_gemm_sm90/group_scan.cuh"

namespace quarry::grouped_gemm_sm90 {

using Params = GroupedTensorGemmParams;

/// A group as a problem. The copy engine takes boxes that begin at multiples of 16 bytes along a line: the
/// ragged K of a group begins some positions early.
struct TensorEntry : GroupEntry<Params> {
  int head;  ///< positions of K that are not the group's
};
using TensorWork = WorkOf<TensorEntry>;

/// The work of a block: tiles group by group. Each warp walks the same list on its own, all lanes together.
template <gemm_sm90::Config config>
class GroupList {
 public:
  using Work = TensorWork;
  static constexpr bool needs_warp = true;

  QUARRY_DEVICE GroupList(const Params& params, const gemm_sm90::ClusterPlace& place)
      : params_(params), place_(place), position_(is_alone ? arch::block_index() : arch::cluster_index()) {
    seek();
  }

  QUARRY_DEVICE bool has_more() const { return lane_ >= 0; }

  /// Goes on by one turn of the grid.
  QUARRY_DEVICE void advance() {
    position_ += is_alone ? arch::grid_blocks() : arch::grid_clusters();
    seek();
  }

  /// The tile of this block, which may lie outside the group where its cluster's does not.
  QUARRY_DEVICE Work current() const {
    const int first = arch::shuffle(groups_.first, lane_);
    const int count = arch::shuffle(groups_.count, lane_);
    const int end = arch::shuffle(groups_.tile_end, lane_);
    const auto rows = static_cast<unsigned>(is_ragged() ? params_.gemm.tiles_m : parts(count, tile_rows));
    const auto columns = static_cast<unsigned>(params_.gemm.tiles_n);
    const int tile = static_cast<int>(position_ - (static_cast<unsigned>(end) - rows * columns));
    constexpr int band = band_rows / tile_rows;
    static_assert(band >= 1 && band <= most_band_tiles);
    const Divided bands = divide(tile, params_.bands.tiles);
    const int first_row = bands.quotient * band;
    const int left = static_cast<int>(rows) - first_row;
    const Divided line = place_in_band(params_.bands, bands.rest, left < band ? left : band);
    const int head = is_ragged() && count > 0 ? first % (16 / bytes_of(config.types.a)) : 0;
    Work work = {{{params_, next_group_ - 32 + lane_, first - head, count + head}, head}, 0, 0, 0, 0, 0};
    work.tile_m = (first_row + line.rest) * config.cluster.m + place_.m;
    work.tile_n = line.quotient * config.cluster.n + place_.n;
    work.k_tiles = parts(work.k(), config.tile.k);
    return work;
  }

 private:
  static constexpr bool is_alone = config.cluster.m * config.cluster.n == 1;
  static constexpr int tile_rows = config.tile.m * config.cluster.m;

  QUARRY_DEVICE static int parts(int extent, int size) { return extent / size + (extent % size != 0); }
  QUARRY_DEVICE bool is_ragged() const { return params_.groups.form == GroupForm::ragged_k; }

  /// Finds the group of the position, no earlier than the one before.
  QUARRY_DEVICE void seek() {
    const GemmParams& gemm = params_.gemm;
    QUARRY_ROLLED
    for (;;) {
      lane_ = arch::first_lane(position_ < static_cast<unsigned>(groups_.tile_end));
      if (lane_ >= 0 || next_group_ >= params_.groups.groups) return;
      groups_ = read_groups(params_.groups, next_group_, last_of(groups_), is_ragged() ? 0 : tile_rows,
                            is_ragged() ? gemm.tiles_m * gemm.tiles_n : gemm.tiles_n);
      next_group_ += 32;
    }
  }

  const Params& params_;
  const gemm_sm90::ClusterPlace& place_;
  LaneGroups groups_ = {};
  int next_group_ = 0;
  unsigned position_;
  int lane_ = -1;  ///< of the present group; -1: no tile is left
};

}  // namespace quarry::grouped_gemm_sm90

namespace quarry::gemm_sm90 {

template <Config config>
struct WorkListOf<config, GroupedTensorGemmParams> {
  using Type = grouped_gemm_sm90::GroupList<config>;
};

}  // namespace quarry::gemm_sm90
