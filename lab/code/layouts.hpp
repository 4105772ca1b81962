/// What a kernel's numbers follow from: which thread holds which sum, how tiles lie in shared memory.
#pragma once

#include <string>

#include "gemm_sm80/config.hpp"
#include "gemm_sm90/config.hpp"
#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

namespace quarry::lab {

/// The layouts of a kernel's device code, and whose they are. Fails with unsupported where it has none.
Result<std::string> layout_text(const Kernel& kernel);

/// The layouts of one config's device code, as text of several lines.
std::string layouts_of(const gemm_sm80::Config& config);
std::string layouts_of(const gemm_sm90::Config& config);

}  // namespace quarry::lab
