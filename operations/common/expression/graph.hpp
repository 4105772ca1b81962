/// The graph of an expression: typed nodes, operands in front of what uses them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "quarry/expression.hpp"

namespace quarry::detail {

enum class NodeKind : std::uint8_t {
  sum,       ///< the sum of the element
  gate_sum,  ///< the first sum of a gated pair
  up_sum,    ///< its second sum
  constant,
  input,    ///< an element of inputs[which]
  call,     ///< functions()[which] of the operands
  convert,  ///< the operand rounded to the DType `which`
  reduce,   ///< reductions()[which] of the operand
  gather,   ///< an element of inputs[which], in the row that the operand, an input, says
};

/// What a value is computed in. The order is fixed: hashes hold these numbers.
enum class ValueType : std::uint8_t { f32, f64, s32, boolean };

/// What elements of a type are computed in.
constexpr ValueType value_type_of(DType type) {
  if (is_integer(type)) return ValueType::s32;
  return bits_of(type) == 64 ? ValueType::f64 : ValueType::f32;
}

/// The element type that holds values of a type exactly. @pre not boolean
constexpr DType element_of(ValueType type) {
  if (type == ValueType::s32) return DType::s32;
  return type == ValueType::f64 ? DType::f64 : DType::f32;
}

/// Whether a value differs from row to row, from column to column, or only from group to group of columns.
struct Span {
  bool rows = false;
  bool columns = false;
  bool groups = false;

  /// Whether it is a value of every element.
  constexpr bool is_element() const { return rows && columns; }
  friend constexpr Span operator|(Span a, Span b) {
    const bool columns = a.columns || b.columns;
    return {a.rows || b.rows, columns, !columns && (a.groups || b.groups)};
  }
  friend constexpr bool operator==(Span, Span) = default;
};

using NodeId = std::uint16_t;
inline constexpr int max_operands = 3;

struct Node {
  NodeKind kind = NodeKind::constant;
  ValueType type = ValueType::f32;
  std::uint8_t operand_count = 0;
  /// See NodeKind.
  std::uint16_t which = 0;
  std::array<NodeId, max_operands> operands = {};
  /// Of a constant: rounded to `type`.
  double value = 0;

  /// What follows from the operands.
  Span span = {};
  /// Which reduction must be complete before the value is known; `element`: none, the value is computed with
  /// its element, or with its group of columns.
  expression::Extent known_after = expression::Extent::element;
  /// Whether it is known when its group of columns is reduced.
  bool after_groups = false;

  std::span<const NodeId> arguments() const { return {operands.data(), operand_count}; }
  friend bool operator==(const Node& a, const Node& b) {
    return a.kind == b.kind && a.type == b.type && a.operand_count == b.operand_count && a.which == b.which &&
           a.operands == b.operands &&
           std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value);
  }
};

/// Nodes are different from one another, used, and in the order in which a walk from the outputs finishes
/// them. So equal expressions have equal graphs, however they were written.
struct ExpressionGraph {
  std::vector<Node> nodes;
  std::vector<expression::Tensor> inputs;
  std::vector<expression::Output> outputs;
  /// The node of each output.
  std::vector<NodeId> roots;
  DType sum = DType::none;
  expression::Pairs pairs = expression::Pairs::none;

  bool is_gated() const { return pairs != expression::Pairs::none; }

  friend bool operator==(const ExpressionGraph&, const ExpressionGraph&) = default;
};

/// The place among the inputs of the index that chooses rows of an input; -1 for one that is not gathered.
int index_of(const ExpressionGraph& graph, std::size_t input);

/// FNV-1a of 64 bits over the nodes, by the names of their functions, and over the tensors.
/// @param outputs the outputs' types, in their order, in the place of the declared ones; empty: these
std::uint64_t hash_of(const ExpressionGraph& graph, std::span<const DType> outputs = {});

}  // namespace quarry::detail
