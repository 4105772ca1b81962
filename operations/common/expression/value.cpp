// Expressions in C++: values become the text of the same expression, which is then parsed, so that both ways
// have the same rules and messages.
#include <algorithm>
#include <unordered_map>

#include "basic/text.hpp"
#include "operations/common/expression/lexer.hpp"
#include "operations/common/expression/parser.hpp"
#include "operations/common/expression/printer.hpp"
#include "operations/common/expression/value_tree.hpp"
#include "quarry/tensor.hpp"

namespace quarry {
namespace {

using detail::Spelled;
using detail::ValueTree;
using expression::Value;

Value made(ValueTree tree) { return Value(std::make_shared<const ValueTree>(std::move(tree))); }

/// The values of some outputs as text, and the tensors that they name.
class Speller {
 public:
  Status add(const expression::NamedValue& output) {
    if (!detail::is_tensor_name(output.name)) {
      return error(detail::quoted(output.name) + " cannot be the name of an output");
    }
    const Result<std::size_t> value = visit(output.value.tree().get());
    if (!value) return value.status();
    const bool is_declared = output.dtype != DType::none || output.shape.has_value();
    if (is_declared) declared_.tensors.push_back({output.name, output.dtype, output.shape});
    taken_.push_back(output.name);
    outputs_.push_back({output.name, *value, is_declared || output.name == "out"});
    return {};
  }

  Result<Expression> expression() {
    const std::string text = statements_of(std::move(values_), outputs_, taken_);
    declared_.sum = sum_;
    return Expression::parse(text, declared_);
  }

 private:
  Status error(const std::string& what) const { return {StatusCode::invalid_arguments, what}; }

  Result<std::size_t> visit(const ValueTree* tree) {
    if (const auto known = places_.find(tree); known != places_.end()) return known->second;
    if (tree->kind == ValueTree::Kind::too_deep || values_.size() == most_values) {
      return error("the expression is too large; expected at most " + std::to_string(expression::max_nodes) +
                   " different values");
    }
    Spelled spelled;
    for (const auto& operand : tree->operands) {
      const Result<std::size_t> place = visit(operand.get());
      if (!place) return place;
      spelled.operands.push_back(*place);
    }
    if (Status status = spell(*tree, spelled); !status) return status;
    values_.push_back(std::move(spelled));
    places_.emplace(tree, values_.size() - 1);
    return values_.size() - 1;
  }

  Status spell(const ValueTree& tree, Spelled& spelled) {
    switch (tree.kind) {
      case ValueTree::Kind::constant: spelled.text = detail::number_text(tree.constant, false); return {};
      case ValueTree::Kind::sum: spelled.text = "sum"; return note_sum(tree.tensor.dtype);
      case ValueTree::Kind::tensor: spelled.text = tree.tensor.name; return declare(tree.tensor);
      case ValueTree::Kind::gather:
        if (tree.tensor.name.empty()) return error("gathered() takes a tensor as the table");
        spelled.text = tree.tensor.name;
        spelled.is_gather = true;
        return declare(tree.tensor);
      default: break;
    }
    spelled.text = tree.name;
    if (const auto function = detail::find_function(tree.name, tree.operands.size())) {
      spelled.binding = detail::functions()[*function].binding;
    } else if (!detail::is_tensor_name(tree.name) && tree.name != "sum") {
      return error("unknown function " + detail::quoted(tree.name));
    }
    return {};
  }

  Status note_sum(DType type) {
    if (sum_ != DType::none && sum_ != type) return error("sums have one type; the expression names two");
    sum_ = type;
    return {};
  }

  Status declare(const expression::Tensor& tensor) {
    for (const expression::Tensor& known : declared_.tensors) {
      if (known.name != tensor.name) continue;
      if (known == tensor) return {};
      return error("tensor " + detail::quoted(tensor.name) + " has two types or shapes");
    }
    taken_.push_back(tensor.name);
    declared_.tensors.push_back(tensor);
    return {};
  }

  /// Before equal ones are merged.
  static constexpr std::size_t most_values = 4 * expression::max_nodes;

  std::vector<Spelled> values_;
  std::unordered_map<const ValueTree*, std::size_t> places_;
  std::vector<detail::SpelledOutput> outputs_;
  std::vector<std::string_view> taken_;
  expression::Declarations declared_;
  DType sum_ = DType::none;
};

}  // namespace

namespace expression {

Value::Value(double constant)
    : tree_(std::make_shared<const ValueTree>(
          ValueTree{.kind = ValueTree::Kind::constant, .constant = constant})) {}

Value sum(DType type) { return made({.kind = ValueTree::Kind::sum, .tensor = {.dtype = type}}); }

Value tensor(std::string name, DType dtype, Shape shape) {
  return made({.kind = ValueTree::Kind::tensor, .tensor = {std::move(name), dtype, shape}});
}

Value gathered(const Value& table, const Value& index) {
  ValueTree tree = {.kind = ValueTree::Kind::gather};
  if (table.tree()->kind == ValueTree::Kind::tensor) tree.tensor = table.tree()->tensor;
  tree.depth = index.tree()->depth + 1;
  tree.operands.push_back(index.tree());
  if (tree.depth > max_nodes) return made({.kind = ValueTree::Kind::too_deep});
  return made(std::move(tree));
}

Value scalar(std::string name, DType dtype) { return tensor(std::move(name), dtype, Shape::scalar); }

Value gate(const Value& sums) { return call("gate", {sums}); }
Value up(const Value& sums) { return call("up", {sums}); }
Value gate8(const Value& sums) { return call("gate8", {sums}); }
Value up8(const Value& sums) { return call("up8", {sums}); }
Value rounded(const Value& x, DType type) { return call(quarry::to_string(type), {x}); }

Value call(std::string_view name, std::initializer_list<Value> arguments) {
  ValueTree tree = {.kind = ValueTree::Kind::call, .name = std::string(name)};
  for (const Value& argument : arguments) {
    tree.depth = std::max(tree.depth, argument.tree()->depth + 1);
    tree.operands.push_back(argument.tree());
  }
  if (tree.depth > max_nodes) return made({.kind = ValueTree::Kind::too_deep});
  return made(std::move(tree));
}

}  // namespace expression

Result<Expression> Expression::make(std::span<const expression::NamedValue> outputs) {
  Speller speller;
  for (const expression::NamedValue& output : outputs) {
    if (Status status = speller.add(output); !status) return status;
  }
  return speller.expression();
}

}  // namespace quarry
