#include "operations/common/expression/rough.hpp"

#include <algorithm>
#include <string_view>

#include "operations/common/expression/functions.hpp"

namespace quarry::detail {
namespace {

using expression::Extent;

/// Device functions that have a rough form (kernels/common/expression.cuh).
constexpr std::string_view rough_functions[] = {"tanh", "sigmoid", "silu", "hardswish", "gelu", "gelu_tanh"};

/// Device functions whose results are as far off as their operands, or as much as these are multiplied by.
constexpr std::string_view passing_functions[] = {"plus", "minus", "times", "negative", "select",    "min",
                                                  "max",  "clamp", "abs",   "relu",     "leaky_relu"};

bool is_one_of(const Node& node, std::span<const std::string_view> names) {
  return node.kind == NodeKind::call &&
         std::ranges::find(names, functions()[node.which].device) != names.end();
}

bool is_stored_roughly(const expression::Output& output, DType out) {
  const bool is_open = output.tensor.dtype == DType::none && output.tensor.name == "out";
  const DType type = is_open ? out : output.tensor.dtype;
  return output.extent == Extent::element && type != DType::none && bits_of(type) <= 16;
}

}  // namespace

std::vector<bool> rough_nodes(const ExpressionGraph& graph, DType out) {
  std::vector<bool> rough(graph.nodes.size(), graph.sum != DType::none);
  for (std::size_t i = 0; i < graph.roots.size(); ++i) {
    if (!is_stored_roughly(graph.outputs[i], out)) rough[graph.roots[i]] = false;
  }
  for (std::size_t id = rough.size(); id-- > 0;) {  // whatever uses a node stands behind it
    const Node& node = graph.nodes[id];
    const bool passes = rough[id] && is_one_of(node, passing_functions);
    for (const NodeId operand : node.arguments()) rough[operand] = rough[operand] && passes;
    rough[id] = rough[id] && node.type == ValueType::f32 && is_one_of(node, rough_functions);
  }
  return rough;
}

}  // namespace quarry::detail
