/// One phase of a dgrad with strides, as a dgrad without.
#pragma once

#include "conv2d/phases.hpp"
#include "conv2d/work.cuh"

namespace quarry {

/// A tensor from (row, column) on, of which one row in `row_step` counts, and one column in `column_step`.
QUARRY_DEVICE MatrixParams part_of(const MatrixParams& tensor, int row, int row_step, int column,
                                   int column_step, int element_bytes) {
  MatrixParams part = tensor;
  if (tensor.data == nullptr) return part;
  part.data = static_cast<const char*>(tensor.data) +
              (row * tensor.row_stride + column * tensor.column_stride) * element_bytes;
  part.row_stride = tensor.row_stride * row_step;
  part.column_stride = tensor.column_stride * column_step;
  return part;
}

QUARRY_DEVICE WindowAxis axis_of(const WindowAxis& whole, const PhaseAxis& phase, int dilation) {
  WindowAxis axis = whole;
  axis.places = phase.by_places;
  axis.taps = phase.by_taps;
  axis.padding = phase.padding;
  axis.dilation = dilation;
  return axis;
}

/// The phase's parameters: the parameters of a dgrad whose stride is 1.
template <int in_bytes, int out_bytes>
QUARRY_DEVICE Conv2dParams params_of_phase(const PhasedConv2dParams& all, int phase) {
  const Phases& phases = all.phases;
  const PhaseAxis& rows = phases.rows.at[phase / phases.columns.stride];
  const PhaseAxis& columns = phases.columns.at[phase % phases.columns.stride];
  Conv2dParams params = all;
  params.m = phases.images * rows.places * columns.places;
  params.k = rows.taps * columns.taps * all.windows.channels.size;
  params.batch = phases.groups;
  params.b = part_of(all.b, rows.first_tap, phases.rows.tap_step, columns.first_tap, phases.columns.tap_step,
                     in_bytes);
  params.c = part_of(all.c, rows.first, phases.rows.stride, columns.first, phases.columns.stride, out_bytes);
  params.out =
      part_of(all.out, rows.first, phases.rows.stride, columns.first, phases.columns.stride, out_bytes);
  params.windows.rows = axis_of(all.windows.rows, rows, phases.rows.dilation);
  params.windows.columns = axis_of(all.windows.columns, columns, phases.columns.dilation);
  params.windows.flips = false;
  return params;
}

/// A group in a phase, as ConvolutionGroup.
struct PhaseGroup {
  const Conv2dParams& params;  ///< of the phase
  int batch;                   ///< of the launch
  int group;

  QUARRY_DEVICE int m() const { return params.m; }
  QUARRY_DEVICE int n() const { return params.n; }
  QUARRY_DEVICE int k() const { return params.k; }
  QUARRY_DEVICE OperandBase out() const { return {0, 0, group * params.n}; }
};

/// The same piece of work, within the phase: it may have fewer rows and K tiles than the grid covers. Where a
/// slice begins behind the end of K, its K tiles are less than none.
QUARRY_DEVICE WorkOf<PhaseGroup> of_phase(const TileWork& work, const Conv2dParams& params, Tile tile) {
  WorkOf<PhaseGroup> part = {{params, work.batch, work.batch % params.batch},
                             work.slice,
                             work.tile_m,
                             work.tile_n,
                             work.first_k_tile,
                             work.k_tiles};
  const int k_tiles = params.k / tile.k + (params.k % tile.k != 0);
  if (part.k_tiles > k_tiles - part.first_k_tile) part.k_tiles = k_tiles - part.first_k_tile;
  if (part.tile_m * tile.m >= params.m) part.k_tiles = 0;
  return part;
}

}  // namespace quarry
