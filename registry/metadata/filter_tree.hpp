/// A parsed filter: expressions whose types are known and fit together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "registry/metadata/fields.hpp"
#include "registry/metadata/filter_arithmetic.hpp"

namespace quarry::detail {

enum class FilterValueType : std::uint8_t {
  boolean,
  integer,
  decimal,
  word,
  text,
  name,     ///< a field or a word: what stands beside it decides
  invalid,  ///< follows an error that was reported
};

enum class FilterNodeKind : std::uint8_t {
  constant,
  field,
  name,
  widen,       ///< the integer `left` as a decimal
  arithmetic,  ///< left <arithmetic> right
  compare,     ///< left <comparison> right; a constant stands on the right unless both are
  in,          ///< left equals one of the items, of which `right` is the last
  item,        ///< one item of `in`: the value `right`; `left` is the item before, or no_node
  has,
  conjunction,
  disjunction,
  negation,  ///< not left
};

using NodeId = std::uint32_t;
inline constexpr NodeId no_node = 0xFFFFFFFF;

/// One expression. Chains of operators lean to the left, so that only parentheses and signs nest on the
/// right.
struct FilterNode {
  FilterNodeKind kind = FilterNodeKind::constant;
  FilterValueType type = FilterValueType::invalid;
  Arithmetic arithmetic = Arithmetic::add;
  Comparison comparison = Comparison::equal;
  NodeId left = no_node;
  NodeId right = no_node;
  /// Where it begins in the filter's text.
  std::size_t offset = 0;
  /// Of a constant: an integer, a boolean as 0 or 1, a word by its place in its field's words.
  std::int64_t integer = 0;
  double decimal = 0;
  /// Of a text constant or a name: a part of the filter's text.
  std::string_view text = {};
  /// Of a field, of has, and of a word constant: the field whose words it is of.
  const Field* field = nullptr;
};

struct Tree {
  std::vector<FilterNode> nodes;
  NodeId root = no_node;
  const FilterNode& operator[](NodeId id) const { return nodes[id]; }
};

}  // namespace quarry::detail
