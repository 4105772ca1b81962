/// One form for equal expressions.
#pragma once

#include "operations/common/expression/graph.hpp"

namespace quarry::detail {

/// The graph with its nodes in the order in which a walk from the outputs finishes them, and its inputs in
/// the order in which that walk meets them.
ExpressionGraph normalised(const ExpressionGraph& graph);

}  // namespace quarry::detail
