/// Which device functions runs of kernels need.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "quarry/kernel.hpp"

namespace quarry::lab::emulate {

/// Every entry that the kernels may need, each once: their own, and the reductions of a parallel split-K.
std::vector<std::string> entries_of(std::span<const Kernel> kernels);

}  // namespace quarry::lab::emulate
