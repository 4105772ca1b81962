/// What a kernel's numbers follow from: which thread holds which sum, how tiles lie in shared memory.
#pragma once

#include <span>
#include <string>

#include "gemm_sm80/config.hpp"
#include "gemm_sm90/config.hpp"
#include "quarry/kernel.hpp"

namespace quarry::command {

/// Prints each kernel's layouts. Fails, with nothing printed, where one has none. @return the exit status
int show_layout(std::span<const Kernel> kernels);

/// The layouts of one config's device code, as text of several lines.
std::string layouts_of(const gemm_sm80::Config& config);
std::string layouts_of(const gemm_sm90::Config& config);

}  // namespace quarry::command
