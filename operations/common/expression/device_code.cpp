#include "operations/common/expression/device_code.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "operations/common/expression/functions.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail {
namespace {

using expression::Extent;

std::string_view cpp_type_of(ValueType type) {
  static constexpr std::string_view words[] = {"float", "double", "int", "bool"};
  return words[static_cast<int>(type)];
}

/// The constant as C++, exactly.
std::string literal(double value, ValueType type) {
  const bool is_f32 = type == ValueType::f32;
  if (type == ValueType::s32) {
    const auto whole = static_cast<long long>(value);
    return whole == -2147483648LL ? "(-2147483647 - 1)" : "(" + std::to_string(whole) + ")";
  }
  if (!std::isfinite(value)) {
    const std::uint64_t bits = is_f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                                      : std::bit_cast<std::uint64_t>(value);
    return "__builtin_bit_cast(" + std::string(cpp_type_of(type)) + ", " + std::to_string(bits) +
           (is_f32 ? "u)" : "ull)");
  }
  char digits[48];
  const auto end = std::to_chars(digits, digits + sizeof digits, std::abs(value), std::chars_format::hex).ptr;
  return (std::signbit(value) ? "(-0x" : "(0x") + std::string(digits, end) + (is_f32 ? "F)" : ")");
}

class Writer {
 public:
  Writer(const ExpressionGraph& graph, std::string_view name, const std::vector<bool>& rough)
      : graph_(graph), rough_(rough) {
    code_.name = name;
    list_members();
  }

  ExpressionCode code() {
    std::string& text = code_.text;
    text = "struct " + code_.name + " {\n";
    text += members("Inputs", code_.inputs) + members("Groups", code_.groups);
    text += members("Lines", code_.lines) + members("Outputs", code_.outputs);
    text += function("group_operands(const Inputs& in, Groups& groups)", operands_of(true));
    text += function("elements(const Inputs& in, const Groups& groups, Lines& lines, Outputs& out)",
                     of_elements());
    text += finish("finish_row", Extent::row) + finish("finish_column", Extent::column);
    text += finish("finish_all", Extent::all);
    if (!code_.groups.empty() || !code_.lines.empty() || graph_.is_gated()) add_reductions(text);
    text += "};\n";
    code_.row_inputs = inputs_of(Extent::row);
    code_.column_inputs = inputs_of(Extent::column);
    code_.all_inputs = inputs_of(Extent::all);
    return std::move(code_);
  }

 private:
  /// A value that a function writes: the member, and the node.
  struct Target {
    std::string member;
    NodeId node;
  };

  bool is_group(NodeId id) const { return reductions()[graph_.nodes[id].which].extent == Extent::group; }

  void list_members() {
    const auto is = [this](NodeKind kind) {
      return std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                         [kind](const Node& n) { return n.kind == kind; });
    };
    const ValueType sum = value_type_of(graph_.sum);
    if (is(NodeKind::sum)) code_.inputs.push_back({"sum", sum});
    if (is(NodeKind::gate_sum)) code_.inputs.push_back({"gate_sum", sum});
    if (is(NodeKind::up_sum)) code_.inputs.push_back({"up_sum", sum});
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      code_.inputs.push_back({"x" + std::to_string(i), value_type_of(graph_.inputs[i].dtype)});
    }
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      if (node.kind != NodeKind::reduce) continue;
      auto& to = is_group(static_cast<NodeId>(id)) ? code_.groups : code_.lines;
      to.push_back({"r" + std::to_string(id), node.type});
    }
    for (std::size_t i = 0; i < graph_.roots.size(); ++i) {
      code_.outputs.push_back({"out" + std::to_string(i), graph_.nodes[graph_.roots[i]].type});
    }
  }

  static std::string members(const std::string& name, const std::vector<CodeMember>& list) {
    std::string text = "  struct " + name + " {";
    for (const CodeMember& member : list)
      text += " " + std::string(cpp_type_of(member.type)) + " " + member.name + ";";
    return text + " };\n";
  }

  /// What reductions of groups, or the others, reduce.
  std::vector<Target> operands_of(bool groups) const {
    std::vector<Target> targets;
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      if (node.kind != NodeKind::reduce || is_group(static_cast<NodeId>(id)) != groups) continue;
      targets.push_back({(groups ? "groups.r" : "lines.r") + std::to_string(id), node.operands[0]});
    }
    return targets;
  }

  std::vector<Target> outputs_of(Extent extent) const {
    std::vector<Target> targets;
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (graph_.outputs[i].extent == extent)
        targets.push_back({"out.out" + std::to_string(i), graph_.roots[i]});
    }
    return targets;
  }

  std::vector<Target> of_elements() const {
    std::vector<Target> targets = operands_of(false);
    for (const Extent extent : {Extent::element, Extent::group}) {
      for (Target& target : outputs_of(extent)) targets.push_back(std::move(target));
    }
    return targets;
  }

  std::vector<std::size_t> inputs_of(Extent extent) const {
    const std::vector<bool> needed = needed_for(outputs_of(extent));
    std::vector<std::size_t> inputs;
    for (std::size_t id = 0; id < needed.size(); ++id) {
      const Node& node = graph_.nodes[id];
      if (needed[id] && node.kind == NodeKind::input) inputs.push_back(node.which);
    }
    return inputs;
  }

  /// The number of reductions that leave a value for each of something, and what calls a function for each.
  std::string each(const std::string& name, const std::string& values, Extent extent) const {
    std::string calls;
    int count = 0;
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      if (node.kind != NodeKind::reduce || reductions()[node.which].extent != extent) continue;
      const std::string member = ".r" + std::to_string(id);
      calls += std::string("    f.template of<") + (reductions()[node.which].is_maximum ? "true" : "false") +
               ">(" + std::to_string(count++) + ", a" + member + ", b" + member + ");\n";
    }
    const std::string unused = count == 0 ? "[[maybe_unused]] " : "";
    return "  static constexpr int " + name + "_count = " + std::to_string(count) +
           ";\n  template <class F>\n  QUARRY_DEVICE static void each_" + name + "(" + unused + values +
           "& a, " + unused + values + "& b, " + unused + "const F& f) {\n" + calls + "  }\n";
  }

  void add_reductions(std::string& text) const {
    text += each("group", "Groups", Extent::group) + each("row", "Lines", Extent::row);
    text += each("column", "Lines", Extent::column) + each("all", "Lines", Extent::all);
  }

  std::string finish(const std::string& name, Extent extent) const {
    return function(name + "(const Inputs& in, const Lines& lines, Outputs& out)", outputs_of(extent));
  }

  /// A function that computes values from what it is given.
  std::string function(const std::string& head, const std::vector<Target>& targets) const {
    const std::vector<bool> needed = needed_for(targets);
    std::string text = "  QUARRY_DEVICE static void " + head + " {\n";
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      if (!needed[id]) continue;
      const std::string type(cpp_type_of(graph_.nodes[id].type));
      text +=
          "    const " + type + " v" + std::to_string(id) + " = " + value(static_cast<NodeId>(id)) + ";\n";
    }
    for (const Target& target : targets) {
      text += "    " + target.member + " = v" + std::to_string(target.node) + ";\n";
    }
    return text + "  }\n";
  }

  std::vector<bool> needed_for(const std::vector<Target>& targets) const {
    std::vector<bool> needed(graph_.nodes.size());
    for (const Target& target : targets) needed[target.node] = true;
    for (std::size_t id = needed.size(); id-- > 0;) {
      const NodeKind kind = graph_.nodes[id].kind;
      if (!needed[id] || kind == NodeKind::reduce || kind == NodeKind::gather) continue;
      for (const NodeId operand : graph_.nodes[id].arguments()) needed[operand] = true;
    }
    return needed;
  }

  std::string value(NodeId id) const {
    const Node& node = graph_.nodes[id];
    switch (node.kind) {
      case NodeKind::sum: return "in.sum";
      case NodeKind::gate_sum: return "in.gate_sum";
      case NodeKind::up_sum: return "in.up_sum";
      case NodeKind::constant: return literal(node.value, node.type);
      case NodeKind::input:
      case NodeKind::gather: return "in.x" + std::to_string(node.which);
      case NodeKind::reduce: return (is_group(id) ? "groups.r" : "lines.r") + std::to_string(id);
      case NodeKind::convert:
        return "elementary::rounded<DType::" + std::string(to_string(static_cast<DType>(node.which))) + ">(" +
               arguments(node) + ")";
      case NodeKind::call: break;
    }
    const std::string_view form = !rough_.empty() && rough_[id] ? "roughly::" : "";
    return "elementary::" + std::string(form) + std::string(functions()[node.which].device) + "(" +
           arguments(node) + ")";
  }

  static std::string arguments(const Node& node) {
    std::string list;
    for (const NodeId operand : node.arguments())
      list += (list.empty() ? "v" : ", v") + std::to_string(operand);
    return list;
  }

  const ExpressionGraph& graph_;
  const std::vector<bool>& rough_;
  ExpressionCode code_;
};

/// The types that device code can round to.
constexpr DType device_types[] = {DType::f16, DType::bf16, DType::f32,  DType::f64, DType::s8,
                                  DType::u8,  DType::s32,  DType::e4m3, DType::e5m2};

}  // namespace

std::string index_of_place(const Expression& expression) {
  std::string text;
  for (std::size_t i = 0; i < expression.inputs().size(); ++i) {
    const int index = index_of(expression.graph(), i);
    if (index >= 0) text += "i == " + std::to_string(i) + " ? " + std::to_string(index) + " : ";
  }
  return text + "-1";
}

Result<ExpressionCode> device_code(const ExpressionGraph& graph, std::string_view name,
                                   const std::vector<bool>& rough) {
  for (const Node& node : graph.nodes) {
    const auto type = static_cast<DType>(node.which);
    const bool known =
        std::find(std::begin(device_types), std::end(device_types), type) != std::end(device_types);
    if (node.kind == NodeKind::convert && !known) {
      return Status(StatusCode::unsupported, "kernels cannot round a value to " +
                                                 std::string(to_string(type)) + "; only outputs of it");
    }
  }
  return Writer(graph, name, rough).code();
}

}  // namespace quarry::detail
