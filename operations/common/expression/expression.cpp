#include "quarry/expression.hpp"

#include <utility>

#include "operations/common/expression/graph.hpp"
#include "operations/common/expression/parser.hpp"
#include "operations/common/expression/printer.hpp"
#include "quarry/tensor.hpp"

namespace quarry {
namespace {

using detail::gate_name;
using detail::Node;
using detail::NodeKind;
using detail::up_name;

detail::Spelled spelled(const detail::ExpressionGraph& graph, const Node& node) {
  detail::Spelled value = {.operands = {node.arguments().begin(), node.arguments().end()}};
  switch (node.kind) {
    case NodeKind::sum: value.text = "sum"; break;
    case NodeKind::gate_sum: value.text = std::string(gate_name(graph.pairs)) + "(sum)"; break;
    case NodeKind::up_sum: value.text = std::string(up_name(graph.pairs)) + "(sum)"; break;
    case NodeKind::constant:
      value.text = detail::number_text(node.value, node.type == detail::ValueType::f32);
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
  for (const Node& node : graph_->nodes) values.push_back(spelled(*graph_, node));
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
