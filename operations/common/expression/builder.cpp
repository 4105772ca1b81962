#include "operations/common/expression/builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "basic/nearest.hpp"
#include "basic/text.hpp"
#include "basic/words.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail {
namespace {

using expression::Extent;
using expression::Shape;

std::string_view word_of(ValueType type) {
  return type == ValueType::boolean ? "condition" : to_string(element_of(type));
}

Span span_of(expression::Shape shape) {
  switch (shape) {
    case expression::Shape::scalar: return {};
    case expression::Shape::per_row: return {.rows = true};
    case expression::Shape::per_column: return {.columns = true};
    default: return {.rows = true, .columns = true};
  }
}

/// What a value of a reduction differs by.
Span span_of(Extent extent) {
  return {.rows = extent == Extent::row || extent == Extent::group,
          .columns = extent == Extent::column,
          .groups = extent == Extent::group};
}

/// The constant in a type, or nothing where the type does not have it.
std::optional<double> fitted(double value, ValueType type) {
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  if (type == ValueType::s32) {
    const bool fits = std::nearbyint(value) == value && std::abs(value) <= 0x1p31 && value != 0x1p31;
    return fits ? std::optional(value + 0.0) : std::nullopt;
  }
  if (type != ValueType::f32) return value;
  const auto rounded = static_cast<double>(static_cast<float>(value));
  return std::isinf(rounded) == std::isinf(value) ? std::optional(rounded) : std::nullopt;
}

}  // namespace

std::size_t NodeHash::operator()(const Node& node) const {
  std::uint64_t hash = std::bit_cast<std::uint64_t>(node.value);
  const auto mix = [&hash](std::uint64_t part) { hash = (hash ^ hash >> 29 ^ part) * 0x9e3779b97f4a7c15U; };
  mix(static_cast<std::uint64_t>(node.kind) << 32 | static_cast<std::uint64_t>(node.type) << 16 | node.which);
  for (const NodeId operand : node.arguments()) mix(operand + 1U);
  return static_cast<std::size_t>(hash ^ hash >> 32);
}

GraphBuilder::GraphBuilder(std::string_view text, const expression::Declarations& declared)
    : text_(text), declared_(declared), input_of_(declared.tensors.size()) {
  graph_.sum = DType::none;
  check_declarations();
}

Term GraphBuilder::fail(std::size_t offset, const std::string& what, StatusCode code) {
  if (status_) status_ = error_at(code, what, text_, offset);
  return {.offset = offset};
}

/// The node, or one that holds the same.
Term GraphBuilder::add(const Node& node, std::size_t offset) {
  if (failed()) return {.offset = offset};
  const auto known = known_.find(node);
  if (known != known_.end()) return {.kind = Term::Kind::node, .node = known->second, .offset = offset};
  if (graph_.nodes.size() == expression::max_nodes) {
    return fail(offset, "the expression is too large; expected at most " +
                            std::to_string(expression::max_nodes) + " different values");
  }
  const auto id = static_cast<NodeId>(graph_.nodes.size());
  graph_.nodes.push_back(node);
  known_.emplace(node, id);
  return {.kind = Term::Kind::node, .node = id, .offset = offset};
}

Term GraphBuilder::name(std::string_view name, std::size_t offset) {
  if (failed()) return {.offset = offset};
  const auto expected = expected_.find(name);
  if (expected != expected_.end() && expected->second) {
    Assignment& assignment = assignments_[*expected->second];
    assignment.is_used = true;
    Term value = assignment.value;
    value.offset = offset;
    return value;
  }
  if (name == "sum") return sum_of(NodeKind::sum, offset);
  if (expected != expected_.end()) return fail(offset, quoted(name) + " is used before it is assigned");
  for (std::size_t i = 0; i < declared_.tensors.size(); ++i) {
    if (declared_.tensors[i].name == name) return input(i, offset);
  }
  return unknown_name(name, offset);
}

Term GraphBuilder::unknown_name(std::string_view name, std::size_t offset) {
  const auto callable = callable_names();
  if (std::find(callable.begin(), callable.end(), name) != callable.end()) {
    return fail(offset, quoted(name) + " is a function; expected `(` behind it");
  }
  std::vector<std::string_view> names = {"sum"};
  for (const Assignment& assignment : assignments_) names.push_back(assignment.name);
  for (const expression::Tensor& tensor : declared_.tensors) names.push_back(tensor.name);
  const std::string nearest = did_you_mean(name, names);
  const std::string help = "; declare a tensor as NAME=TYPE:SHAPE, for example " +
                           std::string(name.substr(0, 64)) + "=bf16:per_column";
  return fail(offset, "unknown name " + quoted(name) + (nearest.empty() ? help : nearest),
              StatusCode::not_found);
}

Term GraphBuilder::input(std::size_t declared_index, std::size_t offset) {
  const expression::Tensor& tensor = declared_.tensors[declared_index];
  if (tensor.dtype == DType::none || !tensor.shape) {
    return fail(offset,
                quoted(tensor.name) + " is an input, and its declaration lacks the type or the shape");
  }
  if (tensor.shape == Shape::gathered) {
    return fail(offset, quoted(tensor.name) + " is gathered: an index chooses its rows, as in " +
                            tensor.name + "[index] with index=s32:per_row");
  }
  return add({.kind = NodeKind::input,
              .type = value_type_of(tensor.dtype),
              .which = number_of(declared_index),
              .span = span_of(*tensor.shape)},
             offset);
}

/// The number of an input in the graph.
std::uint16_t GraphBuilder::number_of(std::size_t declared_index) {
  auto& which = input_of_[declared_index];
  if (!which) {
    which = static_cast<std::uint16_t>(graph_.inputs.size());
    graph_.inputs.push_back(declared_.tensors[declared_index]);
  }
  return *which;
}

/// The place among the declarations of an input; nothing, with an error, for other names.
/// @param expected what should stand there, for the message
std::optional<std::size_t> GraphBuilder::input_named(const NameAt& name, const std::string& expected) {
  if (expected_.count(name.name) != 0 || name.name == "sum") {
    fail(name.offset, expected + ", and " + quoted(name.name) + " is computed");
    return std::nullopt;
  }
  if (const expression::Tensor* const tensor = declared(name.name))
    return static_cast<std::size_t>(tensor - declared_.tensors.data());
  unknown_name(name.name, name.offset);
  return std::nullopt;
}

Term GraphBuilder::row(const NameAt& table, const NameAt& index) {
  if (failed()) return {.offset = table.offset};
  const auto of_table = input_named(table, "an index chooses rows of an input that is declared gathered");
  if (!of_table) return {.offset = table.offset};
  const expression::Tensor& rows = declared_.tensors[*of_table];
  if (rows.dtype == DType::none || rows.shape != Shape::gathered) {
    return fail(table.offset, "an index chooses rows of an input that is declared gathered: expected " +
                                  rows.name + "=TYPE:gathered");
  }
  const auto of_index = input_named(index, "an index is an input of s32:per_row");
  if (!of_index) return {.offset = index.offset};
  const expression::Tensor& chosen = declared_.tensors[*of_index];
  if (chosen.dtype != DType::s32 || chosen.shape != Shape::per_row) {
    return fail(index.offset,
                "an index is an input of s32:per_row; " + quoted(chosen.name) + " is declared " +
                    std::string(to_string(chosen.dtype)) +
                    (chosen.shape ? ":" + std::string(to_string(*chosen.shape)) : std::string()));
  }
  const Term place = input(*of_index, index.offset);
  if (failed()) return place;
  const std::uint16_t which = number_of(*of_table);
  const auto is_other = [&](const Node& node) {
    return node.kind == NodeKind::gather && node.which == which && node.operands[0] != place.node;
  };
  if (std::any_of(graph_.nodes.begin(), graph_.nodes.end(), is_other)) {
    return fail(
        index.offset,
        quoted(rows.name) + " has another index elsewhere; for a second one, give the table a second name");
  }
  return add({.kind = NodeKind::gather,
              .type = value_type_of(rows.dtype),
              .operand_count = 1,
              .which = which,
              .operands = {place.node},
              .span = {.rows = true, .columns = true}},
             table.offset);
}

Term GraphBuilder::sum_of(NodeKind kind, std::size_t offset) {
  if (declared_.sum == DType::none) {
    return fail(offset, "there is no sum here: the operation computes from tensors alone",
                StatusCode::not_found);
  }
  auto& first = sum_offsets_[static_cast<std::size_t>(kind)];
  if (!first) first = offset;
  graph_.sum = declared_.sum;
  return add({.kind = kind, .type = value_type_of(declared_.sum), .span = {.rows = true, .columns = true}},
             offset);
}

Term GraphBuilder::half(std::string_view name, std::size_t offset) {
  if (failed()) return {.offset = offset};
  const expression::Pairs pairs = pairs_of(name);
  if (graph_.is_gated() && graph_.pairs != pairs) {
    return fail(offset, "the pairs lie in blocks of eight columns or in halves; " + quoted(name) + " and " +
                            quoted(gate_name(graph_.pairs)) + " do not go together");
  }
  graph_.pairs = pairs;
  return sum_of(name == gate_name(pairs) ? NodeKind::gate_sum : NodeKind::up_sum, offset);
}

/// What is made of constants becomes a node of this type; another node stays.
Term GraphBuilder::typed(const Term& term, ValueType type) {
  if (term.kind == Term::Kind::of_constants) return retyped(term.node, type, term.offset);
  if (term.kind != Term::Kind::constant) return term;
  const auto value = fitted(term.constant, type);
  if (!value) {
    return fail(term.offset,
                "the constant is no " + std::string(word_of(type)) +
                    (type == ValueType::s32 ? "; round the value beside it, for example to f32" : ""));
  }
  return add({.kind = NodeKind::constant, .type = type, .value = *value}, term.offset);
}

/// The node, which is computed from constants alone, with all of them in this type.
Term GraphBuilder::retyped(NodeId id, ValueType type, std::size_t offset) {
  Node node = graph_.nodes[id];
  if (node.kind == NodeKind::constant) return typed(constant(node.value, offset), type);
  const Function& f = functions()[node.which];
  node.type = type;
  for (NodeId& operand : std::span(node.operands.data(), node.operand_count)) {
    if (graph_.nodes[operand].type == ValueType::boolean) continue;
    const Term term = retyped(operand, type, offset);
    if (failed() || !accepts(f, term, type)) return {.offset = offset};
    operand = term.node;
  }
  return add(node, offset);
}

/// Whether the type has each constant that this is made of, and each function between them.
bool GraphBuilder::can_be(const Term& term, ValueType type) const {
  if (term.kind == Term::Kind::constant) return fitted(term.constant, type).has_value();
  const Node& node = at(term);
  if (node.type == ValueType::boolean) return true;
  if (node.kind == NodeKind::constant) return fitted(node.value, type).has_value();
  if (type == ValueType::s32 && functions()[node.which].domain == Domain::floating) return false;
  return std::ranges::all_of(node.arguments(), [&](NodeId operand) {
    return can_be({.kind = Term::Kind::of_constants, .node = operand}, type);
  });
}

bool GraphBuilder::is_of_constants(const Term& term) {
  return term.kind == Term::Kind::constant || term.kind == Term::Kind::of_constants;
}

/// The type of what is made of constants and has no value beside it.
/// @param stored the type that it is declared to have in memory, or none
ValueType GraphBuilder::type_alone(const Term& term, DType stored) const {
  const auto is_f64 = [](const expression::Tensor& tensor) { return tensor.dtype == DType::f64; };
  DType type = stored == DType::none ? declared_.sum : stored;
  if (type == DType::none && std::ranges::any_of(declared_.tensors, is_f64)) type = DType::f64;
  if (type == DType::f64) return ValueType::f64;
  return type == DType::s32 && is_of_constants(term) && can_be(term, ValueType::s32) ? ValueType::s32
                                                                                     : ValueType::f32;
}

Term GraphBuilder::call(std::string_view name, std::span<const Term> operands, std::size_t offset) {
  if (failed()) return {.offset = offset};
  if (const auto function = find_function(name, operands.size())) return apply(*function, operands, offset);
  if (operands.size() == 1) {
    if (const auto reduction = find_reduction(name)) return reduce(*reduction, operands[0], offset);
    if (const auto type = value_of(dtype_words, name); type && *type != 0) {
      return convert(static_cast<DType>(*type), operands[0], offset);
    }
  }
  return unknown_function(name, operands.size(), offset);
}

Term GraphBuilder::unknown_function(std::string_view name, std::size_t operands, std::size_t offset) {
  std::string counts;
  for (std::size_t count = 1; count <= max_operands; ++count) {
    const bool one = count == 1 && (find_reduction(name) || value_of(dtype_words, name).value_or(0) != 0);
    if (one || find_function(name, count)) counts += (counts.empty() ? "" : " or ") + std::to_string(count);
  }
  if (!counts.empty()) {
    return fail(offset, quoted(name) + " takes " + counts + (counts == "1" ? " value" : " values") +
                            ", got " + std::to_string(operands));
  }
  if (declared(name) != nullptr) return fail(offset, quoted(name) + " is a tensor, not a function");
  return fail(offset, "unknown function " + quoted(name) + did_you_mean(name, callable_names()),
              StatusCode::not_found);
}

/// Whether an operand is what the function takes beside operands of this type; reports what is wrong.
bool GraphBuilder::accepts(const Function& f, const Term& operand, ValueType type) {
  const ValueType given = at(operand).type;
  if (f.domain == Domain::logic) {
    if (given != ValueType::boolean) fail(operand.offset, "expected a condition, such as x > 0");
  } else if (given == ValueType::boolean) {
    fail(operand.offset, "a condition is no number; write select(condition, 1, 0)");
  } else if (given != type) {
    fail(operand.offset, std::string(word_of(type)) + " and " + std::string(word_of(given)) +
                             " do not mix; round one of them, for example f32(x)");
  } else if (given == ValueType::s32 && f.domain == Domain::floating) {
    fail(operand.offset, quoted(f.name) + " takes no s32; round the value first, for example f32(x)");
  }
  return !failed();
}

/// The value of an operator between constants.
std::optional<double> GraphBuilder::folded(const Function& f, std::span<const Term> operands) const {
  double values[max_operands] = {};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool is_constant = operands[i].kind == Term::Kind::constant;
    if (!is_constant && at(operands[i]).kind != NodeKind::constant) return std::nullopt;
    values[i] = is_constant ? operands[i].constant : at(operands[i]).value;
  }
  return f.in_f64(values);
}

Term GraphBuilder::apply(std::uint16_t which, std::span<const Term> operands, std::size_t offset) {
  const Function& f = functions()[which];
  const bool selects = f.domain == Domain::selection;
  const std::size_t first = selects ? 1 : 0;
  const auto is_node = [](const Term& term) { return term.kind == Term::Kind::node; };
  const auto typed_one =
      std::find_if(operands.begin() + static_cast<std::ptrdiff_t>(first), operands.end(), is_node);
  const bool is_alone = typed_one == operands.end();
  const ValueType alone = f.domain == Domain::comparison ? type_alone({}, DType::none) : ValueType::f64;
  const ValueType type = is_alone ? alone : at(*typed_one).type;
  if (f.is_operator() && f.domain != Domain::logic && f.domain != Domain::comparison) {
    if (const auto value = folded(f, operands)) {
      const Term result = constant(*value, operands[0].offset);
      return is_alone ? result : typed(result, type);
    }
  }
  Node node = {.kind = NodeKind::call, .type = type, .which = which};
  if (f.domain == Domain::comparison || f.domain == Domain::logic) node.type = ValueType::boolean;
  for (const Term& operand : operands) {
    const bool is_condition = selects && node.operand_count == 0;
    const Term term = typed(operand, is_condition ? ValueType::f32 : type);
    if (failed()) return {.offset = offset};
    if (is_condition && at(term).type != ValueType::boolean) {
      return fail(term.offset, "expected a condition, such as x > 0");
    }
    if (!is_condition && !accepts(f, term, type)) return {.offset = offset};
    node.operands[node.operand_count++] = term.node;
  }
  if (!spread(node, offset)) return {.offset = offset};
  Term result = add(node, std::min(operands[0].offset, offset));
  if (!failed() && is_alone && node.type != ValueType::boolean) result.kind = Term::Kind::of_constants;
  return result;
}

Term GraphBuilder::convert(DType type, const Term& operand, std::size_t offset) {
  const bool is_exact = type == DType::f64 ||
                        (type == DType::s32 && is_of_constants(operand) && can_be(operand, ValueType::s32));
  const Term term = typed(operand, is_exact ? value_type_of(type) : ValueType::f32);
  if (failed()) return {.offset = offset};
  const ValueType given = at(term).type;
  if (given == ValueType::boolean) {
    return fail(term.offset, "a condition is no number; write select(condition, 1, 0)");
  }
  if (type == element_of(given)) return term;  // It changes nothing.
  Node node = {.kind = NodeKind::convert,
               .type = value_type_of(type),
               .operand_count = 1,
               .which = static_cast<std::uint16_t>(type),
               .operands = {term.node}};
  return spread(node, offset) ? add(node, offset) : Term{.offset = offset};
}

Term GraphBuilder::reduce(std::uint16_t which, const Term& operand, std::size_t offset) {
  const Term term = typed(operand, type_alone(operand, DType::none));
  if (failed()) return {.offset = offset};
  const Node& value = at(term);
  const Extent extent = reductions()[which].extent;
  if (value.type == ValueType::boolean) {
    return fail(term.offset, "a condition is no number; write select(condition, 1, 0)");
  }
  if (value.known_after != Extent::element || (extent == Extent::group && value.after_groups)) {
    return fail(term.offset, "a reduction takes no value that is reduced itself");
  }
  if (!value.span.is_element()) {
    return fail(term.offset,
                "a reduction takes a value of every element; this one is the same along rows or columns");
  }
  Node node = {.kind = NodeKind::reduce,
               .type = value.type,
               .operand_count = 1,
               .which = which,
               .operands = {term.node},
               .span = span_of(extent)};
  node.known_after = extent == Extent::group ? Extent::element : extent;
  node.after_groups = extent == Extent::group || value.after_groups;
  return add(node, offset);
}

/// Sets what follows from the operands of a node; false, with an error, where they do not go together.
bool GraphBuilder::spread(Node& node, std::size_t offset) {
  for (const NodeId id : node.arguments()) {
    const Node& operand = graph_.nodes[id];
    node.span = node.span | operand.span;
    node.after_groups = node.after_groups || operand.after_groups;
    if (operand.known_after == Extent::element) continue;
    if (node.known_after != Extent::element && node.known_after != operand.known_after) {
      fail(offset, "values that are reduced over different extents do not go together");
      return false;
    }
    node.known_after = operand.known_after;
  }
  if (node.known_after == Extent::element ||
      (node.span | span_of(node.known_after)) == span_of(node.known_after)) {
    return true;
  }
  fail(offset,
       "the reduction is complete only after all elements, so nothing with more values can use it; elements "
       "can use "
       "group_max and group_sum");
  return false;
}

}  // namespace quarry::detail
