/// From the text of an expression to its graph.
#pragma once

#include <string_view>

#include "operations/common/expression/graph.hpp"

namespace quarry::detail {

/// Levels that parentheses, signs and calls may nest. It bounds the parser's recursion.
inline constexpr int max_expression_nesting = 100;

/// The graph; errors as Expression::parse documents.
Result<ExpressionGraph> parse_expression(std::string_view text, const expression::Declarations& declared);

}  // namespace quarry::detail
