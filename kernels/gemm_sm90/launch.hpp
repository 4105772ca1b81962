/// How kernels of this main loop are launched, whatever brings their operands. Host only.
#pragma once

#include <cstddef>

#include "gemm/family.hpp"
#include "gemm_sm90/config.hpp"
#include "gemm_sm90/params.hpp"

namespace quarry::gemm_sm90 {

/// Whether clusters can be as many slices as the caller asks for, and fit the multiprocessors that it allows.
Status check_controls(const GemmTraits& kernel, const Controls& controls);

/// gemm_launch, with the clusters and the grid of the config. There are no tensor maps yet.
/// @return its parameters; null where nothing is launched
TensorGemmParams* begin_launch(const Config& config, const GemmProblem& problem,
                               const ChosenControls& controls, std::size_t params_bytes, Launch& launch);

}  // namespace quarry::gemm_sm90
