/// Device code of expressions, as text over kernels/common/expression.cuh.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "operations/common/expression/graph.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// A member of one of the structs below, a value of some node.
struct CodeMember {
  std::string name;
  ValueType type;
};

/// A struct of this name, without data:
///
///     struct NAME {
///       struct Inputs { ... };  // `sum` or `gate_sum` and `up_sum`, and x0, x1, ...: the inputs, in their
///       order struct Groups { ... };  // r0, r1, ...: of each reduction of groups, by node: what is reduced,
///       or its result struct Lines { ... };   // the same of the other reductions struct Outputs { ... }; //
///       out0, out1, ...: the outputs, in their order, before they are rounded static void
///       group_operands(const Inputs&, Groups&);            // what groups reduce static void elements(const
///       Inputs&, const Groups&, Lines&, Outputs&);
///           // of an element, with the results of its group: outputs of elements and groups, what lines
///           reduce
///       static void finish_row(const Inputs&, const Lines&, Outputs&);     // outputs after row reductions,
///       static void finish_column(const Inputs&, const Lines&, Outputs&);  // after column reductions,
///       static void finish_all(const Inputs&, const Lines&, Outputs&);     // and after reductions of all
///       elements
///     };
///
/// With reductions, the struct has for each extent (group, row, column, all) their number and a function that
/// calls `f.template of<is_maximum>(i, a.r, b.r)` for each of its reductions, i from 0 on:
///       static constexpr int row_count = ...;
///       template <class F> static void each_row(Lines& a, Lines& b, const F& f);
///
/// Values are float, double or int, as they are computed. What an expression does not have is empty.
struct ExpressionCode {
  std::string name;
  std::string text;
  std::vector<CodeMember> inputs;
  std::vector<CodeMember> groups;
  std::vector<CodeMember> lines;
  std::vector<CodeMember> outputs;
  /// The numbers of the inputs that are read to finish a row, a column, and all.
  std::vector<std::size_t> row_inputs = {};
  std::vector<std::size_t> column_inputs = {};
  std::vector<std::size_t> all_inputs = {};
};

/// The code of an expression; equal expressions have equal code. Fails with `unsupported` where it rounds to
/// a type that device code does not have.
/// @param name of the struct, an identifier
/// @param rough of each node whether it is a rough activation (rough_nodes); empty: none is
Result<ExpressionCode> device_code(const ExpressionGraph& graph, std::string_view name,
                                   const std::vector<bool>& rough = {});

/// For each input by its place the place of the index that chooses its rows: "i == 1 ? 0 : -1".
std::string index_of_place(const Expression& expression);

}  // namespace quarry::detail
