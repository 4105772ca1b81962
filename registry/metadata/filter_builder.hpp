/// Builds the expressions of a filter: decides what names mean, checks types, and remembers the first error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "quarry/status.hpp"
#include "registry/metadata/filter_tree.hpp"

namespace quarry::detail {

/// Each function adds an expression and gives its node. On an error it gives a node of type `invalid`, which
/// the others take without complaint, so that a caller need not look at every step.
class TreeBuilder {
 public:
  /// @param text the filter; it must outlive the tree
  explicit TreeBuilder(std::string_view text) : text_(text) {}

  NodeId integer(std::int64_t value, std::size_t offset);
  NodeId decimal(double value, std::size_t offset);
  NodeId boolean(bool value, std::size_t offset);
  NodeId text(std::string_view value, std::size_t offset);
  NodeId name(std::string_view name, std::size_t offset);

  /// Numbers; with one decimal the other becomes one too. Constants are folded where the result exists.
  NodeId arithmetic(Arithmetic op, NodeId left, NodeId right);
  /// Two expressions of one type. @param offset where the operator stands
  NodeId compare(Comparison op, NodeId left, NodeId right, std::size_t offset);
  NodeId contains(NodeId left, NodeId right);
  /// @param items one or more
  NodeId in(NodeId left, std::vector<NodeId> items);
  /// Whether the kernel has this field, or any field of this part.
  NodeId has(std::string_view path, std::size_t offset);
  NodeId conjunction(NodeId left, NodeId right) { return join(FilterNodeKind::conjunction, left, right); }
  NodeId disjunction(NodeId left, NodeId right) { return join(FilterNodeKind::disjunction, left, right); }
  NodeId negation(NodeId condition, std::size_t offset);
  /// The same expression, a name settled, if it is a condition.
  NodeId condition(NodeId node);

  /// Reports an error at a byte of the text, unless there was one before.
  NodeId fail(std::size_t offset, const std::string& what, StatusCode code = StatusCode::parse_error);
  bool failed() const { return !status_; }

  /// The tree with this root, or the first error.
  Result<Tree> finish(NodeId root);

 private:
  FilterNode& at(NodeId id) { return tree_.nodes[id]; }
  NodeId add(const FilterNode& node);
  NodeId widen(NodeId node);
  NodeId number(NodeId node);
  NodeId join(FilterNodeKind kind, NodeId left, NodeId right);
  void settle(NodeId node);
  void settle_beside(NodeId node, NodeId other);
  void become_word(NodeId node, const Field& field);
  bool unify(NodeId left, NodeId right);
  bool settle_both(NodeId left, NodeId right);

  std::string_view text_;
  Tree tree_;
  Status status_;
};

}  // namespace quarry::detail
