/// What the copy engine brings for a phase of a dgrad with strides: windows and filters, as for a dgrad
/// without, of the phase's taps alone.
#pragma once

#include "conv2d_sm90/phase_work.cuh"
#include "conv2d_sm90/sources.cuh"

namespace quarry::conv2d_sm90 {

/// A walk over the K tiles of a phase, as TapWalk.
class PhaseWalk {
 public:
  QUARRY_DEVICE PhaseWalk(const PhasedTensorConv2dParams& params, const TensorPhase& phase, int k_tile,
                          int tile_k)
      : params_(params), phase_(phase) {
    const auto number = [](int n) { return static_cast<unsigned>(n); };
    const int channels = params.windows.channels.size;
    const Parts by_tap = in_parts(number(k_tile), number((channels + tile_k - 1) / tile_k));
    const Parts by_row = in_parts(by_tap.whole, number(phase.column_taps));
    channel = static_cast<int>(by_tap.rest) * tile_k;
    column_ = static_cast<int>(by_row.rest);
    row_ = static_cast<int>(by_row.whole);
    look();
  }

  QUARRY_DEVICE void advance(int tile_k) {
    channel += tile_k;
    if (channel < params_.windows.channels.size) return;
    channel = 0;
    if (++column_ == phase_.column_taps) {
      column_ = 0;
      ++row_;
    }
    look();
  }

  int channel;
  int tap;  ///< of the filters
  int columns_on;
  int rows_on;

 private:
  QUARRY_DEVICE void look() {
    tap = phase_.last_tap - row_ * params_.rows.tap_step - column_ * params_.columns.tap_step;
    columns_on = phase_.columns_on + column_ * params_.columns.dilation;
    rows_on = phase_.rows_on + row_ * params_.rows.dilation;
  }

  const PhasedTensorConv2dParams& params_;
  const TensorPhase& phase_;
  int column_;  ///< of the phase's taps
  int row_;
};

/// The place of a window of the walk by its number.
QUARRY_DEVICE arch::PixelPlace phase_place(const PhasedTensorConv2dParams& params, int window) {
  const Index3 at = index3(window, params.rows.places, params.columns.places);
  return {0, params.columns.first + at.inner, params.rows.first + at.middle, at.outer, 0, 0};
}

/// The sources of a tile, as TensorSources.
template <gemm_sm90::Config config>
class PhaseSources {
 public:
  QUARRY_DEVICE PhaseSources(const PhasedTensorConv2dParams& params, const PhaseWork& work,
                             const ClusterPlace& place)
      : walk_(params, work.phase(), work.first_k_tile, config.tile.k),
        a_(params.a, phase_place(params, first_window<gemm_sm90::box_a(config)>(work, place.n)), place.n,
           gemm_sm90::sharers_of_a<config>(place)),
        b_(params.b, -1, work, place.m, gemm_sm90::sharers_of_b<config>(place)) {}

  QUARRY_DEVICE static constexpr int bytes() { return gemm_sm90::stage_bytes(config); }
  QUARRY_DEVICE void load(arch::SharedAddress stage, arch::SharedAddress landed, int /*k*/) {
    a_.load(stage, landed, walk_);
    b_.load(stage + gemm_sm90::box_a(config).bytes(), landed, walk_);
    walk_.advance(config.tile.k);
  }

 private:
  PhaseWalk walk_;
  WindowRows<gemm_sm90::box_a(config)> a_;
  FilterTaps<gemm_sm90::box_b(config)> b_;
};

}  // namespace quarry::conv2d_sm90
