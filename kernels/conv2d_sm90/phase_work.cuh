/// Which tiles of which phases a block computes (conv2d_sm90/phase_list.hpp), and where their rows lie.
#pragma once

#include "conv2d/places.hpp"
#include "conv2d_sm90/phase_list.hpp"
#include "gemm_sm90/work_list.cuh"

namespace quarry::conv2d_sm90 {

/// A phase as a problem: its rows lie apart in the output.
struct PhaseEntry {
  static constexpr bool has_neighbours = false;

  const PhasedTensorConv2dParams& params;
  int batch;  ///< the phase

  QUARRY_DEVICE const TensorPhase& phase() const { return params.phases[batch]; }
  QUARRY_DEVICE int m() const { return params.gemm.m; }
  QUARRY_DEVICE int n() const { return params.gemm.n; }
  QUARRY_DEVICE OperandBase out() const { return {0, 0, 0}; }

  /// Where a row lies in a tensor with the output's extents, in elements; no_place where the image has no
  /// such pixel.
  QUARRY_DEVICE long long row_offset(const MatrixParams& tensor, int row) const {
    const Windows& w = params.windows;
    const Index3 at = index3(row, params.rows.places, params.columns.places);
    const int y = phase().first_row + at.middle * w.rows.stride.size;
    const int x = phase().first_column + at.inner * w.columns.stride.size;
    if (y >= w.rows.places.size || x >= w.columns.places.size) return no_place;
    return at.outer * tensor.batch_stride + y * tensor.row_stride + x * tensor.column_stride;
  }
};
using PhaseWork = WorkOf<PhaseEntry>;

/// The work of a block: phase after phase, most taps first.
template <gemm_sm90::Config config>
class PhaseList : public gemm_sm90::WorkList<config> {
  using All = gemm_sm90::WorkList<config>;

 public:
  using Work = PhaseWork;

  QUARRY_DEVICE PhaseList(const PhasedTensorConv2dParams& params, const gemm_sm90::ClusterPlace& place)
      : All(params, place), params_(params) {}

  /// The tile of this block. Its phase may have fewer K tiles than the largest one.
  QUARRY_DEVICE Work current() const {
    const TileWork work = All::current();
    const TensorPhase& phase = params_.phases[work.batch];
    const int channels = params_.windows.channels.size;
    const int k_tiles =
        phase.row_taps * phase.column_taps * (channels / config.tile.k + (channels % config.tile.k != 0));
    int left = k_tiles - work.first_k_tile;
    if (left > work.k_tiles) left = work.k_tiles;
    return {{params_, work.batch}, work.slice,        work.tile_m,
            work.tile_n,           work.first_k_tile, left > 0 ? left : 0};
  }

 private:
  const PhasedTensorConv2dParams& params_;
};

}  // namespace quarry::conv2d_sm90

namespace quarry::gemm_sm90 {

template <Config config>
struct WorkListOf<config, PhasedTensorConv2dParams> {
  using Type = conv2d_sm90::PhaseList<config>;
};

}  // namespace quarry::gemm_sm90
