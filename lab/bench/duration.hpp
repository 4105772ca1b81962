/// How long the benchmark of a problem takes.
#pragma once

#include <span>

#include "lab/bench/shape.hpp"

namespace quarry::lab {

/// Seconds that bench_shape is likely to take, without the yardstick, when all kernels are compiled: the sum
/// of what it does one after the other.
/// @param predicted seconds of each kernel that it times @param bytes of the problem's operands
double expected_bench_seconds(std::span<const double> predicted, bool has_controls, double bytes,
                              const BenchOptions& options);

}  // namespace quarry::lab
