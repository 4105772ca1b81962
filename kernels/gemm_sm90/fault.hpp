/// Which configs have kernels, for the families whose main loop is this one. Host only.
#pragma once

#include <string>

#include "gemm_sm90/config.hpp"

namespace quarry::gemm_sm90 {

/// Why there can be no such kernel of operands as they are, "" where there can.
std::string fault(const Config& config);

/// Why no kernel has so many bytes of shared memory, "" where one can.
std::string shared_memory_fault(int bytes);

}  // namespace quarry::gemm_sm90
