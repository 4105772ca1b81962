/// A dgrad with strides as a launch of phases (conv2d_sm90/phase_list.hpp). Host only.
#pragma once

#include "conv2d/problem.hpp"
#include "conv2d_sm90/phase_list.hpp"

namespace quarry::conv2d_sm90 {

/// The phases along an axis, and the walk over windows that does for all of them.
struct PhasedAxis {
  PhasesAlong along;
  int places;  ///< of the largest phase
  int first;   ///< pixel where the walk's first window begins
  int reach;   ///< from a window's begin to the last pixel that any phase looks at
};

/// @pre the stride is at most most_phases, and the image has pixels
PhasedAxis phased_axis(const Conv2dProblem& problem, const WindowAxis& axis);

/// The product that the grid covers. The output and C stay tensors. @param padded_channels of a tap, along K
/// @pre it is not empty
GemmProblem phased_product(const Conv2dProblem& problem, int padded_channels);

/// The same with the mean K of the phases, as the ranking sees it.
GemmProblem mean_phase(const Conv2dProblem& problem, int padded_channels);

/// Fills what the launch says of phases.
void add_phases(const Conv2dProblem& problem, PhasedTensorConv2dParams& params);

/// The product as the host executor takes it.
Conv2dParams whole_product(const PhasedTensorConv2dParams& params);

}  // namespace quarry::conv2d_sm90
