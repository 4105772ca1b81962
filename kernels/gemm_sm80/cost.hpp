/// What the host knows of a config's kernel: for the families whose main loop is this one. Host only.
#pragma once

#include "gemm/host.hpp"
#include "gemm/profile.hpp"
#include "gemm_sm80/config.hpp"
#include "quarry/status.hpp"

namespace quarry::gemm_sm80 {

GemmTraits traits(const Config& c);

/// Of a K tile of one block.
BlockCost block_cost(const Config& c, const DeviceModel& device);

/// Where lines run along M or N, the asynchronous copies of every K tile except the last one take whole
/// pieces at a line's edge, which must end before the next line begins (operand_copy.cuh): lines may not
/// overlap, as the lines of a broadcast operand do.
Status check_lines(const GemmTraits& kernel, const GemmProblem& problem);

}  // namespace quarry::gemm_sm80
