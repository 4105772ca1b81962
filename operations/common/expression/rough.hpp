/// Which activations of an epilogue may be computed as the standard chain computes them for outputs of few
/// bits.
#pragma once

#include <vector>

#include "operations/common/expression/graph.hpp"

namespace quarry::detail {

/// An absolute error of so much |x|, x the argument, is what such an activation may have at most.
inline constexpr double rough_error = 0x1p-11;

/// For each node, whether it is an activation of f32 whose values end in outputs of at most 16 bits alone, on
/// ways that make no error greater than the values: sums, products, selections and the like. None in
/// expressions without sums.
/// @param out the type of `out`, where the graph does not say it
std::vector<bool> rough_nodes(const ExpressionGraph& graph, DType out);

}  // namespace quarry::detail
