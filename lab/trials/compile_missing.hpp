/// Compiling before trials begin.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lab/problems/problem.hpp"
#include "quarry/device_model.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab {

/// Compiles the kernels that are not precompiled for a compute capability, on all processors: one at
/// a time, as they run, would take longer. Shows its progress. A failure shows when the kernel runs.
void compile_missing(std::span<const Kernel> kernels, int cc);

/// The entries that kernels need for a problem, with its expression compiled in, and that are not in memory:
/// each once. What a kernel that does not take the problem needs is left out.
std::vector<std::uint32_t> missing_entries(std::span<const Kernel> kernels, const Problem& problem,
                                           const DeviceModel& device);

/// Compiles entries, or takes them from the cache on disk, on so many processors. A failure shows when the
/// kernel runs.
void compile_entries(std::span<const std::uint32_t> entries, int cc, int threads);

/// compile_missing of what the kernels need for a problem.
void compile_missing(std::span<const Kernel> kernels, const Problem& problem, const DeviceModel& device);

}  // namespace quarry::lab
