/// What a dgrad with strides is launched with: its phases (conv2d/phases.hpp), each a dgrad without strides.
/// Plain C++, shared by host and device.
///
/// All phases have as many places as the largest one, so that one walk of the copy engine does for all: over
/// windows of the output's gradient from `rows.first` and `columns.first` on. What sets a phase apart is how
/// far from there its first tap looks. Places that do not exist in the image are computed, and not stored.
#pragma once

#include "conv2d/phases.hpp"
#include "conv2d_sm90/params.hpp"

namespace quarry {

/// One axis of the walk over windows.
struct PhaseWalkAxis {
  Divisor places;  ///< of a phase
  int first;       ///< pixel of the output's gradient where the first window begins; may be negative
  int dilation;    ///< from a tap of a phase to its next one
  int tap_step;    ///< between these in the filters, in taps: of a row, of all
};

/// A phase. Its taps are walked from the one that looks at the first pixel, which comes last in memory unless
/// filters are turned.
struct TensorPhase {
  int last_tap;           ///< number of that tap in the filters
  short row_taps;         ///< none is possible
  short column_taps;      ///< 1 at least
  unsigned char rows_on;  ///< from a window's begin to what that tap looks at
  unsigned char columns_on;
  unsigned char first_row;  ///< of the image
  unsigned char first_column;
};

/// Parameters of a dgrad in phases. GemmParams describes what the grid covers: a batch entry for each phase
/// that has places, with the K of the largest one. `out` and `c` are tensors of rank 4, as in Conv2dParams;
/// `windows` describes the whole dgrad.
struct PhasedTensorConv2dParams : TensorConv2dParams {
  PhaseWalkAxis rows;
  PhaseWalkAxis columns;
  TensorPhase phases[most_phases * most_phases];
};

}  // namespace quarry
