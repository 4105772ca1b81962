#include "quarry/expression.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "operations/common/expression/graph.hpp"
#include "operations/common/expression/parser.hpp"
#include "operations/common/expression/printer.hpp"
#include "quarry/tensor.hpp"

namespace quarry {
namespace {

using detail::gate_name;
using detail::Node;
using detail::NodeId;
using detail::NodeKind;
using detail::up_name;
using detail::ValueType;

/// Which constants have their type from a value beside them, wherever they are used. Others are written with
/// their type.
class Constants {
 public:
  explicit Constants(const detail::ExpressionGraph& graph)
      : graph_(graph),
        f32_alone_(f32_alone(graph)),
        is_made_of_(graph.nodes.size()),
        is_alone_(graph.nodes.size()) {
    for (const NodeId root : graph.roots) is_alone_[root] = true;
    for (std::size_t id = 0; id < graph.nodes.size(); ++id) {  // operands stand in front
      const Node& node = graph.nodes[id];
      const bool is_call = node.kind == NodeKind::call;
      const bool has_other = std::ranges::any_of(node.arguments(), [&](NodeId x) { return is_other(x); });
      is_made_of_[id] =
          node.kind == NodeKind::constant || (is_call && !has_other && node.type != ValueType::boolean);
      if (is_call && has_other) continue;
      for (const NodeId operand : node.arguments()) is_alone_[operand] = true;
    }
  }

  bool is_plain(std::size_t id) const {
    return !is_alone_[id] || (graph_.nodes[id].type == ValueType::f32 && f32_alone_);
  }

 private:
  /// Whether it is a number that is not made of constants alone.
  bool is_other(NodeId id) const { return graph_.nodes[id].type != ValueType::boolean && !is_made_of_[id]; }

  /// Whether constants without a value beside them are f32 in the whole expression.
  static bool f32_alone(const detail::ExpressionGraph& graph) {
    // Types that values are computed in, but f32.
    const auto is_wide = [](DType type) {
      if (type == DType::none) return false;
      const ValueType computed = detail::value_type_of(type);
      return computed != ValueType::f32 && detail::element_of(computed) == type;
    };
    const auto is_wide_tensor = [&](const expression::Tensor& tensor) { return is_wide(tensor.dtype); };
    const auto widens = [&](const Node& node) {
      return node.kind == NodeKind::convert && is_wide(static_cast<DType>(node.which));
    };
    return !is_wide(graph.sum) && std::ranges::none_of(graph.inputs, is_wide_tensor) &&
           std::ranges::none_of(graph.outputs, is_wide_tensor, &expression::Output::tensor) &&
           std::ranges::none_of(graph.nodes, widens);
  }

  const detail::ExpressionGraph& graph_;
  bool f32_alone_;
  std::vector<bool> is_made_of_;
  std::vector<bool> is_alone_;
};

detail::Spelled spelled(const detail::ExpressionGraph& graph, const Node& node, bool is_plain) {
  detail::Spelled value = {.operands = {node.arguments().begin(), node.arguments().end()}};
  switch (node.kind) {
    case NodeKind::sum: value.text = "sum"; break;
    case NodeKind::gate_sum: value.text = std::string(gate_name(graph.pairs)) + "(sum)"; break;
    case NodeKind::up_sum: value.text = std::string(up_name(graph.pairs)) + "(sum)"; break;
    case NodeKind::constant:
      value.text = detail::number_text(node.value, node.type == ValueType::f32);
      if (!is_plain)
        value.text = std::string(to_string(detail::element_of(node.type))) + "(" + value.text + ")";
      break;
    case NodeKind::input: value.text = graph.inputs[node.which].name; break;
    case NodeKind::gather:
      value.text = graph.inputs[node.which].name;
      value.is_gather = true;
      break;
    case NodeKind::convert: value.text = to_string(static_cast<DType>(node.which)); break;
    case NodeKind::reduce: value.text = detail::reductions()[node.which].name; break;
    case NodeKind::call:
      value.text = detail::functions()[node.which].name;
      value.binding = detail::functions()[node.which].binding;
      break;
  }
  return value;
}

}  // namespace

Result<Expression> Expression::parse(std::string_view text, const expression::Declarations& declared) {
  Result<detail::ExpressionGraph> graph = detail::parse_expression(text, declared);
  if (!graph) return graph.status();
  return Expression(std::make_shared<const detail::ExpressionGraph>(*std::move(graph)));
}

Expression::Expression(std::shared_ptr<const detail::ExpressionGraph> graph)
    : graph_(std::move(graph)), hash_(detail::hash_of(*graph_)) {}

std::span<const expression::Tensor> Expression::inputs() const { return graph_->inputs; }
std::span<const expression::Output> Expression::outputs() const { return graph_->outputs; }
DType Expression::sum_type() const { return graph_->sum; }
expression::Pairs Expression::pairs() const { return graph_->pairs; }

std::string Expression::text() const {
  std::vector<detail::Spelled> values;
  const Constants constants(*graph_);
  for (std::size_t id = 0; id < graph_->nodes.size(); ++id)
    values.push_back(spelled(*graph_, graph_->nodes[id], constants.is_plain(id)));
  std::vector<std::string_view> taken;
  for (const expression::Tensor& tensor : graph_->inputs) taken.push_back(tensor.name);
  std::vector<detail::SpelledOutput> outputs;
  for (std::size_t i = 0; i < graph_->outputs.size(); ++i) {
    outputs.push_back({graph_->outputs[i].tensor.name, graph_->roots[i]});
    taken.push_back(graph_->outputs[i].tensor.name);
  }
  return statements_of(std::move(values), outputs, taken);
}

expression::Declarations Expression::declarations() const {
  expression::Declarations declared = {.tensors = graph_->inputs, .sum = graph_->sum};
  for (const expression::Output& output : graph_->outputs) {
    const expression::Tensor& tensor = output.tensor;
    const bool is_default = tensor.dtype == DType::none && tensor.shape == expression::Shape::row;
    if (!is_default) declared.tensors.push_back(tensor);
  }
  return declared;
}

bool operator==(const Expression& a, const Expression& b) { return a.graph() == b.graph(); }

}  // namespace quarry
