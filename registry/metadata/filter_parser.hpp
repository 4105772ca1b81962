/// From a filter's text to typed expressions.
#pragma once

#include <string_view>

#include "quarry/status.hpp"
#include "registry/metadata/filter_tree.hpp"

namespace quarry::detail {

/// Levels that parentheses, signs and negations may nest. It bounds the recursion of parser and compiler.
inline constexpr int max_nesting = 100;
/// Bytes that a filter may have.
inline constexpr std::size_t max_filter_bytes = std::size_t{1} << 20;

/// The expressions of a filter, its root a condition; they point into `text`. Errors as Filter::parse
/// documents.
Result<Tree> parse_filter(std::string_view text);

}  // namespace quarry::detail
