/// A few kernels that stand for all.
#pragma once

#include <span>
#include <vector>

#include "quarry/kernel.hpp"

namespace quarry::lab::emulate {

/// Some of the kernels, such that every two values of two settings that meet in a kernel of a family (a tile
/// with a layout, stages with an alignment, ...) meet in one of these. The same for the same kernels, in
/// whatever order; not the fewest there could be.
std::vector<Kernel> covering(std::span<const Kernel> kernels);

}  // namespace quarry::lab::emulate
