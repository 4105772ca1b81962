/// The host side of a wgrad with Iterator::window (window_gradient.cuh). Host only.
#pragma once

#include <string>
#include <utility>

#include "chosen_controls.hpp"
#include "conv2d/patches.hpp"
#include "conv2d/problem.hpp"
#include "conv2d_sm80/config.hpp"
#include "gemm/profile.hpp"
#include "launch.hpp"
#include "quarry/device_model.hpp"
#include "quarry/status.hpp"

namespace quarry::conv2d_sm80 {

inline bool brings_gradients(const GemmTraits& kernel, const Conv2dProblem& problem) {
  return kernel.iterator == Iterator::window && problem.direction == Direction::wgrad;
}

inline Status refused(std::string why) { return {StatusCode::unsupported, std::move(why)}; }

/// Of a window whose pixels need more bytes than a kernel of Iterator::window has room for.
Status window_refusal(long long bytes, int most);

/// Ok where the output, C, the residual and aux are matrices, shared memory has room for the pixels of a
/// window, and tiles of outputs can be counted.
Status check_gradients(const GemmTraits& kernel, const Conv2dProblem& problem);

/// The product that the grid covers: the output and what has its extents as matrices, one for each group, and
/// K in whole tiles of outputs. @pre check_gradients()
GemmProblem gradient_product(const GemmTraits& kernel, const Conv2dProblem& problem);

/// What a tile of outputs costs beside its patch, which follows from the problem.
BlockCost gradient_cost(const Config& config, const DeviceModel& device);

/// The same profile with the patches of a problem.
GemmProfile with_gradients(const GemmProfile& kernel, const Conv2dProblem& problem);

/// Fills a launch, which is empty.
void launch_gradients(const GemmTraits& kernel, const Conv2dProblem& problem, const ChosenControls& controls,
                      Launch& launch);

/// The parameters as the host executor takes them: tensors of rank 4, and K as it is.
Conv2dParams gradient_tensors(const WindowConv2dParams& gradients);

}  // namespace quarry::conv2d_sm80
