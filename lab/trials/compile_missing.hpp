/// Compiling before trials begin.
#pragma once

#include <span>

#include "quarry/kernel.hpp"

namespace quarry::lab {

/// Compiles the kernels that are not precompiled for a compute capability, on all processors: one at
/// a time, as they run, would take longer. Shows its progress. A failure shows when the kernel runs.
void compile_missing(std::span<const Kernel> kernels, int cc);

}  // namespace quarry::lab
