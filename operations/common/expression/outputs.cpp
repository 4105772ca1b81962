// The part of GraphBuilder that sees the expression as a whole: declarations, assignments, outputs.
#include <algorithm>

#include "basic/text.hpp"
#include "operations/common/expression/builder.hpp"
#include "operations/common/expression/lexer.hpp"
#include "operations/common/expression/normalise.hpp"
#include "operations/common/expression/tensors.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail {
namespace {

using expression::Extent;
using expression::Shape;

struct ExtentFacts {
  /// What there is a value for, in messages.
  std::string_view of;
  Shape shape;
};

const ExtentFacts& facts_of(Extent extent) {
  static constexpr ExtentFacts facts[] = {{"each element", Shape::row},
                                          {"each group of columns", Shape::row},
                                          {"each row", Shape::per_row},
                                          {"each column", Shape::per_column},
                                          {"all", Shape::scalar}};
  return facts[static_cast<int>(extent)];
}

}  // namespace

const expression::Tensor* GraphBuilder::declared(std::string_view name) const {
  const auto& tensors = declared_.tensors;
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

void GraphBuilder::fail_declared(std::size_t index, const std::string& what) {
  if (failed()) return;
  const std::string list = declared_.text();
  const std::size_t offset =
      expression::Declarations{
          {declared_.tensors.begin(), declared_.tensors.begin() + static_cast<std::ptrdiff_t>(index)}}
          .text()
          .size();
  status_ = error_at(StatusCode::parse_error, what, list, index == 0 ? 0 : offset + 1);
}

void GraphBuilder::check_declarations() {
  if (declared_.sum != DType::none && element_of(value_type_of(declared_.sum)) != declared_.sum) {
    fail(0, "sums are f32, f64 or s32, got " + std::string(to_string(declared_.sum)));
  }
  const auto& tensors = declared_.tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!is_tensor_name(tensors[i].name)) {
      return fail_declared(i, quoted(tensors[i].name) + " cannot be the name of a tensor");
    }
    const bool has_type = tensors[i].dtype == DType::none || bits_of(tensors[i].dtype) > 0;
    if (!has_type || (tensors[i].shape && *tensors[i].shape > Shape::gathered)) {
      return fail_declared(i, quoted(tensors[i].name) + " has an unknown " + (has_type ? "shape" : "type"));
    }
    if (i == expression::max_inputs + expression::max_outputs) {
      return fail_declared(i, "too many tensors; expected at most " + std::to_string(expression::max_inputs) +
                                  " inputs and " + std::to_string(expression::max_outputs) + " outputs");
    }
    if (declared(tensors[i].name) != &tensors[i]) {
      return fail_declared(i, quoted(tensors[i].name) + " is declared twice");
    }
  }
}

void GraphBuilder::expect_assignment(std::string_view name, std::size_t offset) {
  if (failed()) return;
  if (name == "sum") {
    fail(offset, "`sum` cannot be assigned");
  } else if (!expected_.emplace(name, std::nullopt).second) {
    fail(offset, quoted(name) + " is assigned twice");
  }
}

void GraphBuilder::assign(std::string_view name, std::size_t offset, const Term& value) {
  if (failed()) return;
  expected_[name] = assignments_.size();
  assignments_.push_back({.name = name, .offset = offset, .value = value});
}

bool GraphBuilder::is_output(const Assignment& assignment) const {
  return assignment.name == "out" || !assignment.is_used || declared(assignment.name) != nullptr;
}

void GraphBuilder::add_output(const Assignment& assignment) {
  expression::Tensor tensor = {.name = std::string(assignment.name)};
  if (const expression::Tensor* given = declared(assignment.name)) tensor = *given;
  const Term value = typed(assignment.value, type_alone(assignment.value, tensor.dtype));
  if (failed()) return;
  const Node& node = at(value);
  if (node.type == ValueType::boolean) {
    fail(assignment.value.offset, "a condition cannot be stored; write select(condition, 1, 0)");
    return;
  }
  if (graph_.outputs.size() == expression::max_outputs) {
    fail(assignment.offset, "too many outputs; expected at most " + std::to_string(expression::max_outputs));
    return;
  }
  const bool is_group = node.span.groups && node.known_after == Extent::element;
  const Extent extent = is_group ? Extent::group : node.known_after;
  const ExtentFacts& facts = facts_of(extent);
  const Shape shape = tensor.shape.value_or(facts.shape);
  if (shape != facts.shape && !(is_matrix(shape) && is_matrix(facts.shape))) {
    fail(assignment.offset,
         quoted(tensor.name) + " is declared " + std::string(to_string(shape)) + ", but has a value for " +
             std::string(facts.of) + ": expected " +
             (is_matrix(facts.shape) ? "row or col" : std::string(to_string(facts.shape))));
    return;
  }
  tensor.shape = shape;
  if (tensor.dtype == DType::none && tensor.name != "out") tensor.dtype = element_of(node.type);
  graph_.outputs.push_back({.tensor = std::move(tensor), .extent = extent});
  graph_.roots.push_back(value.node);
}

void GraphBuilder::check_sums() {
  const auto [sum, gate, up] = sum_offsets_;
  if (declared_.sum != DType::none && !sum && !gate && !up) fail(text_.size(), "nothing uses `sum`");
  if (!graph_.is_gated()) return;
  const std::string first = std::string(gate_name(graph_.pairs)) + "(sum)";
  const std::string second = std::string(up_name(graph_.pairs)) + "(sum)";
  if (sum) {
    fail(*sum,
         "the sums are a gated pair elsewhere; they can be used as " + first + " and " + second + " only");
  }
  if (!up) fail(*gate, first + " is one half of a pair, and nothing uses the other, " + second);
  if (!gate) fail(*up, second + " is one half of a pair, and nothing uses the other, " + first);
}

void GraphBuilder::check_inputs() {
  std::size_t inputs = 0;
  for (std::size_t i = 0; i < declared_.tensors.size() && !failed(); ++i) {
    const std::string& name = declared_.tensors[i].name;
    if (expected_.count(name) != 0) continue;
    if (!input_of_[i]) fail_declared(i, "nothing uses " + quoted(name));
    if (++inputs > expression::max_inputs) {
      fail_declared(i, "too many inputs; expected at most " + std::to_string(expression::max_inputs));
    }
  }
}

Result<ExpressionGraph> GraphBuilder::finish() {
  if (!failed() && expected_.count("out") == 0) fail(text_.size(), "nothing assigns `out`");
  for (const Assignment& assignment : assignments_) {
    if (is_output(assignment)) add_output(assignment);
  }
  if (!failed()) check_sums();
  check_inputs();
  if (failed()) return status_;
  return normalised(graph_);
}

}  // namespace quarry::detail
