/// What the copy engine brings for a tile of a group.
///
/// A tile may have more rows than the group has left. The others are rows of other groups, or of none, and
/// nobody stores their sums. They would be most of what is copied of A where groups are small. So there are
/// boxes of half the lines and of a quarter, too, and each block copies its part of a tile by the smallest
/// box that has all rows of the group. The lines of the stage that this box leaves out keep what an earlier
/// tile had there, or what lay there before the kernel.
#pragma once

#include "gemm_sm90/tensor_producer.cuh"
#include "grouped_gemm_sm90/config.hpp"
#include "grouped_gemm_sm90/params.hpp"

namespace quarry::grouped_gemm_sm90 {

/// A source of the rows of a group.
template <gemm_sm90::OperandBox box>
class GroupRows : gemm_sm90::BoxSource<box> {
  using Whole = gemm_sm90::BoxSource<box>;
  static_assert(!box.in_turns() && box.part_lines() % 4 == 0);

 public:
  QUARRY_DEVICE GroupRows(const GroupedTensorGemmParams& params, const OperandPart& part, int share,
                          unsigned sharers)
      : Whole(map_of(params, copied_lines<box>(rows_left(part), share)), part, share, sharers),
        rows_(rows_left(part)),
        has_rows_(copied_lines<box>(rows_, share) > 0) {}

  /// Bytes of a tile, whichever blocks load them.
  QUARRY_DEVICE int bytes() const {
    int lines = 0;
    QUARRY_UNROLL
    for (int each = 0; each < box.parts(); ++each) lines += copied_lines<box>(rows_, each);
    return lines * (box.panels() * box.panel_line_bytes());
  }

  /// As BoxSource's.
  QUARRY_DEVICE void load(arch::SharedAddress tile, arch::SharedAddress full, int k) const {
    if (has_rows_) Whole::load(tile, full, k);
  }

 private:
  /// Rows that the group has from the tile's first one on.
  QUARRY_DEVICE static int rows_left(const OperandPart& part) { return part.extent.end - part.extent.first; }

  QUARRY_DEVICE static const TensorMap& map_of(const GroupedTensorGemmParams& params, int lines) {
    if (lines == box.part_lines()) return params.a;
    return lines == box.part_lines() / 2 ? params.half_a : params.quarter_a;
  }

  int rows_;
  bool has_rows_;  ///< in the block's part of the tile
};

/// The sources of a tile: all rows of A where lines run along M. @tparam halves as of gemm_sm90::PartOfB
template <gemm_sm90::Config config, bool halves = false, bool by_rows = gemm_sm90::box_a(config).k_contiguous>
struct GroupSources : gemm_sm90::MatrixSources<config, halves> {
  using gemm_sm90::MatrixSources<config, halves>::MatrixSources;
};
template <gemm_sm90::Config config, bool halves>
struct GroupSources<config, halves, true>
    : gemm_sm90::TileSources<config, GroupRows<gemm_sm90::box_a(config)>,
                             typename gemm_sm90::PartOfB<gemm_sm90::box_b(config), halves>::Source> {
  using SourceA = GroupRows<gemm_sm90::box_a(config)>;
  using OfB = gemm_sm90::PartOfB<gemm_sm90::box_b(config), halves>;

  template <class Work>
  QUARRY_DEVICE GroupSources(const GroupedTensorGemmParams& params, const Work& work,
                             const gemm_sm90::ClusterPlace& place)
      : gemm_sm90::TileSources<config, SourceA, typename OfB::Source>{
            {params, part_of_a(params.gemm.a, work, config.tile), place.n,
             gemm_sm90::sharers_of_a<config>(place)},
            {params.b, OfB::of(params.gemm.b, work, config.tile), place.m,
             gemm_sm90::sharers_of_b<config>(place)}} {}
};

}  // namespace quarry::grouped_gemm_sm90
