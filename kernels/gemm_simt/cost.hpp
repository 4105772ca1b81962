/// What the ranking knows of a config, for the families whose main loop is this one. Host only.
#pragma once

#include "gemm/profile.hpp"
#include "gemm_simt/config.hpp"

namespace quarry::gemm_simt {

GemmTraits traits(const Config& c);

BlockCost block_cost(const Config& c, const DeviceModel& device);

}  // namespace quarry::gemm_simt
