/// Builds the graph of an expression: decides types and extents, refuses what does not fit together, and
/// remembers the first error.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "operations/common/expression/functions.hpp"
#include "operations/common/expression/graph.hpp"

namespace quarry::detail {

/// A value while the graph is built: a node; a constant, or a node of f64 that is computed from constants
/// alone, which take the type of what stands beside them.
struct Term {
  enum class Kind : std::uint8_t { invalid, constant, of_constants, node } kind = Kind::invalid;
  NodeId node = 0;
  double constant = 0;
  /// Where it begins in the text.
  std::size_t offset = 0;
};

/// A name, and where it stands in the text.
struct NameAt {
  std::string_view name;
  std::size_t offset;
};

/// A hash by which equal nodes are found.
struct NodeHash {
  std::size_t operator()(const Node& node) const;
};

/// Each function that gives a Term gives an invalid one after an error; all take those without complaint.
class GraphBuilder {
 public:
  /// @param text what errors show
  /// @param declared what names mean; both must outlive the builder
  GraphBuilder(std::string_view text, const expression::Declarations& declared);

  Term constant(double value, std::size_t offset) const {
    return {.kind = Term::Kind::constant, .constant = value, .offset = offset};
  }
  /// A name that stands for a value.
  Term name(std::string_view name, std::size_t offset);
  /// A function, an operator, a reduction or a rounding. @param offset of the name
  Term call(std::string_view name, std::span<const Term> operands, std::size_t offset);
  /// The row of a table that an index chooses.
  Term row(const NameAt& table, const NameAt& index);
  /// One of the two sums of a pair, by the name of its function.
  Term half(std::string_view name, std::size_t offset);

  /// Tells that a later statement assigns this name.
  void expect_assignment(std::string_view name, std::size_t offset);
  void assign(std::string_view name, std::size_t offset, const Term& value);

  /// Reports an error at a byte of the text, unless there was one before.
  Term fail(std::size_t offset, const std::string& what, StatusCode code = StatusCode::parse_error);
  bool failed() const { return !status_; }

  /// The graph, or the first error.
  Result<ExpressionGraph> finish();

 private:
  struct Assignment {
    std::string_view name;
    std::size_t offset;
    Term value;
    bool is_used = false;
  };
  /// Where the sums, the first half and the second half of a pair are first named.
  using SumOffsets = std::array<std::optional<std::size_t>, 3>;

  // builder.cpp: values
  const Node& at(const Term& term) const { return graph_.nodes[term.node]; }
  Term add(const Node& node, std::size_t offset);
  Term input(std::size_t declared_index, std::size_t offset);
  std::uint16_t number_of(std::size_t declared_index);
  std::optional<std::size_t> input_named(const NameAt& name, const std::string& expected);
  Term sum_of(NodeKind kind, std::size_t offset);
  Term unknown_name(std::string_view name, std::size_t offset);
  Term typed(const Term& term, ValueType type);
  Term retyped(NodeId id, ValueType type, std::size_t offset);
  static bool is_of_constants(const Term& term);
  bool can_be(const Term& term, ValueType type) const;
  ValueType type_alone(const Term& term, DType stored) const;
  Term convert(DType type, const Term& operand, std::size_t offset);
  Term reduce(std::uint16_t which, const Term& operand, std::size_t offset);
  Term apply(std::uint16_t which, std::span<const Term> operands, std::size_t offset);
  std::optional<double> folded(const Function& f, std::span<const Term> operands) const;
  bool accepts(const Function& f, const Term& operand, ValueType type);
  bool spread(Node& node, std::size_t offset);
  Term unknown_function(std::string_view name, std::size_t operands, std::size_t offset);

  // outputs.cpp: the whole
  void check_declarations();
  void check_sums();
  void check_inputs();
  void add_output(const Assignment& assignment);
  bool is_output(const Assignment& assignment) const;
  const expression::Tensor* declared(std::string_view name) const;
  /// An error under a tensor of the list of declarations.
  void fail_declared(std::size_t index, const std::string& what);

  std::string_view text_;
  const expression::Declarations& declared_;
  ExpressionGraph graph_;
  std::unordered_map<Node, NodeId, NodeHash> known_;
  std::vector<Assignment> assignments_;
  /// Names that statements assign, and, when they have done so, the place in `assignments_`.
  std::map<std::string_view, std::optional<std::size_t>> expected_;
  /// Inputs of the graph by place in the declarations.
  std::vector<std::optional<std::uint16_t>> input_of_;
  SumOffsets sum_offsets_ = {};
  Status status_;
};

}  // namespace quarry::detail
