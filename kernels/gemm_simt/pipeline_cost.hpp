/// What a K tile costs where operands are copied asynchronously (pipeline.cuh). Host only.
#pragma once

#include "gemm/profile.hpp"
#include "gemm_simt/config.hpp"

namespace quarry::gemm_simt {

/// As block_cost, of a config that is_pipelined: f32, without scales.
BlockCost pipeline_cost(const Config& config, const DeviceModel& device);

}  // namespace quarry::gemm_simt
