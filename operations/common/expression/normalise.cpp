#include "operations/common/expression/normalise.hpp"

#include <optional>
#include <string_view>

#include "operations/common/expression/functions.hpp"

namespace quarry::detail {
namespace {

class Walk {
 public:
  explicit Walk(const ExpressionGraph& from)
      : from_(from), moved_(from.nodes.size()), input_(from.inputs.size()) {
    to_.sum = from.sum;
    to_.pairs = from.pairs;
    to_.outputs = from.outputs;
    for (const NodeId root : from.roots) to_.roots.push_back(visit(root));
  }

  ExpressionGraph result() && { return std::move(to_); }

 private:
  /// Without recursion: graphs may be deep.
  NodeId visit(NodeId root) {
    std::vector<NodeId> waiting = {root};
    while (!waiting.empty()) {
      const NodeId id = waiting.back();
      const Node& node = from_.nodes[id];
      bool ready = true;
      for (std::size_t i = node.operand_count; i-- > 0;) {
        if (moved_[node.operands[i]]) continue;
        waiting.push_back(node.operands[i]);
        ready = false;
      }
      if (!ready) continue;
      waiting.pop_back();
      if (!moved_[id]) moved_[id] = move(node);
    }
    return *moved_[root];
  }

  NodeId move(Node node) {
    for (std::size_t i = 0; i < node.operand_count; ++i) node.operands[i] = *moved_[node.operands[i]];
    if (node.kind == NodeKind::input || node.kind == NodeKind::gather) {
      auto& place = input_[node.which];
      if (!place) {
        place = static_cast<std::uint16_t>(to_.inputs.size());
        to_.inputs.push_back(from_.inputs[node.which]);
      }
      node.which = *place;
    }
    to_.nodes.push_back(node);
    return static_cast<NodeId>(to_.nodes.size() - 1);
  }

  const ExpressionGraph& from_;
  ExpressionGraph to_;
  std::vector<std::optional<NodeId>> moved_;
  std::vector<std::optional<std::uint16_t>> input_;
};

class Fnv {
 public:
  void add(std::string_view text) {
    for (const char c : text) byte(static_cast<unsigned char>(c));
    byte(0);
  }
  void add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) byte(static_cast<unsigned char>(number >> shift));
  }
  void add(const expression::Tensor& tensor, DType type) {
    add(tensor.name);
    const auto shape = static_cast<std::uint64_t>(tensor.shape.value_or(expression::Shape::scalar));
    add(static_cast<std::uint64_t>(type) << 8 | shape);
  }
  std::uint64_t value() const { return value_; }

 private:
  void byte(unsigned char b) { value_ = (value_ ^ b) * 0x100000001b3U; }
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace

ExpressionGraph normalised(const ExpressionGraph& graph) { return Walk(graph).result(); }

int index_of(const ExpressionGraph& graph, std::size_t input) {
  for (const Node& node : graph.nodes) {
    if (node.kind == NodeKind::gather && node.which == input) return graph.nodes[node.operands[0]].which;
  }
  return -1;
}

std::uint64_t hash_of(const ExpressionGraph& graph, std::span<const DType> outputs) {
  Fnv hash;
  for (const Node& node : graph.nodes) {
    hash.add(static_cast<std::uint64_t>(node.kind) << 8 | static_cast<std::uint64_t>(node.type));
    for (const NodeId operand : node.arguments()) hash.add(operand);
    if (node.kind == NodeKind::call) hash.add(functions()[node.which].name);
    if (node.kind == NodeKind::reduce) hash.add(reductions()[node.which].name);
    if (node.kind == NodeKind::convert || node.kind == NodeKind::input || node.kind == NodeKind::gather)
      hash.add(node.which);
    if (node.kind == NodeKind::constant) hash.add(std::bit_cast<std::uint64_t>(node.value));
  }
  for (const expression::Tensor& tensor : graph.inputs) hash.add(tensor, tensor.dtype);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const expression::Tensor& output = graph.outputs[i].tensor;
    hash.add(output, i < outputs.size() ? outputs[i] : output.dtype);
  }
  for (const NodeId root : graph.roots) hash.add(root);
  hash.add(static_cast<std::uint64_t>(graph.sum));
  if (graph.pairs == expression::Pairs::eights) hash.add(static_cast<std::uint64_t>(graph.pairs));
  return hash.value();
}

}  // namespace quarry::detail
