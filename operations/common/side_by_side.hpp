/// Many views that lie side by side in one matrix, as columns or tiles of it.
#pragma once

#include <span>

#include "quarry/tensor.hpp"

namespace quarry::detail {

/// Whether views are known to have no byte in common, in n log n steps: those whose address ranges overlap
/// are lines of bytes at one distance, which all of them share (or one line alone), and none touches another.
/// False where some do, and where views lie in another way: then may_overlap says it of two at a time.
/// @param views sorted by where they begin (byte_range) @pre check_tensor of each
bool lie_side_by_side(std::span<const TensorView* const> views);

}  // namespace quarry::detail
