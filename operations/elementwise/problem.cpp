#include "operations/elementwise/problem.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "basic/text.hpp"
#include "operations/common/expression/graph.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/operand_checks.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry::detail::elementwise {
namespace {

using expression::Shape;

std::string about(std::string_view name) { return "Operand " + quoted(name) + " "; }

bool is_matrix(Shape shape) { return shape == Shape::row || shape == Shape::column; }

/// Whether device code rounds values to a type.
bool is_rounded_to(DType type) { return bytes_of(type) > 0 && !is_fp8(type); }

Status check_expression(const Expression& expression) {
  if (expression.sum_type() != DType::none)
    return invalid("An elementwise expression has no sums; its text uses `sum`");
  for (const Node& node : expression.graph().nodes) {
    if (node.kind == NodeKind::reduce)
      return invalid("Reductions are not computed by elementwise kernels yet: " + quoted(expression.text()));
    const auto type = static_cast<DType>(node.which);
    if (node.kind == NodeKind::convert && !is_rounded_to(type)) {
      return {StatusCode::unsupported, "Elementwise kernels do not round to " + std::string(to_string(type)) +
                                           " yet: " + quoted(expression.text())};
    }
  }
  for (const expression::Output& output : expression.outputs()) {
    if (output.extent != expression::Extent::element || !is_matrix(*output.tensor.shape))
      return invalid(about(output.tensor.name) +
                     "is an output with a value for each element: expected row or col, got " +
                     std::string(to_string(*output.tensor.shape)));
  }
  return {};
}

const ExpressionTensor* find(const ElementwiseArguments& arguments, std::string_view name) {
  const auto found = std::ranges::find(arguments.tensors, name, &ExpressionTensor::name);
  return found == arguments.tensors.end() ? nullptr : &*found;
}

bool is_named(const Expression& expression, std::string_view name) {
  const auto is_input = [&](const expression::Tensor& t) { return t.name == name; };
  const auto is_output = [&](const expression::Output& o) { return o.tensor.name == name; };
  return std::ranges::any_of(expression.inputs(), is_input) ||
         std::ranges::any_of(expression.outputs(), is_output);
}

/// Whether the list has each tensor of the expression once, and nothing else.
Status check_names(const ElementwiseArguments& arguments) {
  const Expression& expression = arguments.expression;
  const std::size_t needed = expression.inputs().size() + expression.outputs().size();
  const std::size_t most = elementwise_tensors;
  for (const std::size_t count : {needed, arguments.tensors.size()}) {
    if (count > most)
      return invalid("Elementwise problems have at most 8 tensors, got " + std::to_string(count));
  }
  for (const ExpressionTensor& tensor : arguments.tensors) {
    if (!is_named(expression, tensor.name))
      return invalid(about(tensor.name) + "is not in the expression " + quoted(expression.text()));
    if (find(arguments, tensor.name) != &tensor) return invalid(about(tensor.name) + "is given twice");
  }
  return {};
}

/// The status with tensors' own names in its message.
Status renamed(const Status& status, const ElementwiseArguments& arguments) {
  if (status) return status;
  std::string message = status.message();
  for (std::size_t i = 0; i < arguments.tensors.size(); ++i) {
    const std::string old = "`" + std::string(to_string(tensor_operand(static_cast<int>(i)))) + "`";
    for (std::size_t at = message.find(old); at != message.npos; at = message.find(old, at + 1))
      message.replace(at, old.size(), quoted(arguments.tensors[i].name));
  }
  return {status.code(), std::move(message)};
}

/// Whether a tensor's view is one that kernels walk, of the declared type.
Status check_view(const ExpressionTensor& tensor, Operand name, DType declared) {
  const TensorView& view = tensor.view;
  if (Status s = check_tensor(view, name, 1, TensorView::max_rank); !s) return s;
  if (view.is_pointer_array)
    return invalid(about(tensor.name) + "is an array of pointers, which elementwise problems do not take");
  if (view.tag != LayoutTag::strided)
    return invalid(about(tensor.name) + "is " + std::string(to_string(view.tag)) +
                   "; elementwise problems take strided tensors, and `reorder` makes them");
  if (bytes_of(view.dtype) == 0)
    return invalid(about(tensor.name) + "is of " + std::string(to_string(view.dtype)) +
                   "; elementwise problems take types of whole bytes");
  if (declared != DType::none && declared != view.dtype)
    return invalid(about(tensor.name) + "is declared " + std::string(to_string(declared)) + ", but is of " +
                   std::string(to_string(view.dtype)));
  return {};
}

/// Fills one of the problem's tensors after another.
class Filler {
 public:
  Filler(const ElementwiseArguments& arguments, ElementwiseProblem& problem)
      : arguments_(arguments), problem_(problem) {}

  /// `out` decides the extents.
  Status extents() {
    const ExpressionTensor* const out = find(arguments_, "out");
    if (out == nullptr) return {StatusCode::invalid_arguments, Reason::missing, Operand::out};
    if (Status s = check_view(*out, Operand::out, DType::none); !s) return s;
    const TensorView& view = out->view;
    std::fill_n(problem_.params.extents, elementwise_extents, 1);
    for (std::size_t i = 0; i < view.rank; ++i)
      problem_.params.extents[elementwise_extents - view.rank + i] = view.extents[i];
    return {};
  }

  Status add(const expression::Tensor& declared, bool is_output) {
    const ExpressionTensor* const tensor = find(arguments_, declared.name);
    if (tensor == nullptr) return invalid(about(declared.name) + "is missing");
    const Shape shape = *declared.shape;
    if (!is_output && shape == Shape::scalar && tensor->view.dtype == DType::none)
      return add_value(*tensor, declared.dtype);
    const auto place = static_cast<std::size_t>(tensor - arguments_.tensors.data());
    const Operand name = operand_name(arguments_, place);
    if (Status s = check_view(*tensor, name, declared.dtype); !s) return s;
    if (is_output && !is_rounded_to(tensor->view.dtype))
      return {StatusCode::unsupported, about(tensor->name) + "is an output of " +
                                           std::string(to_string(tensor->view.dtype)) +
                                           ", which no elementwise kernel writes yet"};
    const auto address = reinterpret_cast<std::uintptr_t>(tensor->view.data);
    const std::uintptr_t bits = (address == 0 ? tensor->view.assumed_alignment : address) | 256;
    problem_.operands[problem_.tensors] = {.name = name,
                                           .type = tensor->view.dtype,
                                           .is_output = is_output,
                                           .alignment = static_cast<unsigned>(bits & (~bits + 1))};
    ElementwiseTensor& to = problem_.params.tensors[problem_.tensors++];
    to = {.data = tensor->view.data, .strides = {}, .value = 0};
    if (!is_output) ++problem_.inputs;
    if (is_output) {
      if (Status s = check_output_strides(tensor->view, name); !s) return s;
    }
    return put_strides(*tensor, shape, is_output, to);
  }

 private:
  Status add_value(const ExpressionTensor& tensor, DType type) {
    if (bits_of(type) < 8 || is_fp8(type))
      return invalid(about(tensor.name) + "is a value of " + std::string(to_string(type)) +
                     "; such a scalar is given as a tensor");
    problem_.operands[problem_.tensors] = {.type = type};
    ElementwiseTensor& to = problem_.params.tensors[problem_.tensors++];
    to = {.data = nullptr, .strides = {}, .value = 0};
    ++problem_.inputs;
    host::with_element(
        type, [&]<class E>(E) { to.value = static_cast<double>(E::to_value(E::from_value(tensor.value))); });
    return {};
  }

  /// The place among four extents of a view's extent; 4 for a scalar, whose extents are 1.
  static std::size_t place_of(const TensorView& view, Shape shape, std::size_t extent) {
    if (is_matrix(shape)) return 4U - view.rank + extent;
    if (shape == Shape::scalar) return 4;
    const std::size_t last = view.rank - 1U;
    if (extent == last) return shape == Shape::per_row ? 2 : 3;
    return 2 - last + extent;
  }

  Status put_strides(const ExpressionTensor& tensor, Shape shape, bool is_output, ElementwiseTensor& to) {
    static constexpr std::string_view along[] = {"the first extent", "the batch", "rows", "columns"};
    const TensorView& view = tensor.view;
    if (!is_matrix(shape) && shape != Shape::scalar && view.rank > 3)
      return invalid(about(tensor.name) + "is a vector for each " +
                     (shape == Shape::per_row ? "row" : "column") + ": expected rank 1 to 3, got 4");
    for (std::size_t i = 0; i < view.rank; ++i) {
      const std::size_t place = place_of(view, shape, i);
      const std::int64_t extent = place < 4 ? problem_.params.extents[place] : 1;
      if (view.extents[i] != extent && (view.extents[i] != 1 || is_output))
        return mismatch(tensor.name, place < 4 ? along[place] : "each extent", extent, view.extents[i],
                        is_output);
      if (place < 4 && view.extents[i] != 1) to.strides[place] = view.strides[i];
    }
    for (std::size_t place = 0; is_output && place + view.rank < 4; ++place) {
      if (problem_.params.extents[place] != 1)
        return mismatch(tensor.name, along[place], problem_.params.extents[place], 1, true);
    }
    return {};
  }

  static Status mismatch(std::string_view name, std::string_view along, std::int64_t expected,
                         std::int64_t got, bool is_output) {
    return invalid(about(name) + "does not fit `out` along " + std::string(along) + ": expected " +
                   std::to_string(expected) + (is_output || expected == 1 ? "" : " or 1") + ", got " +
                   std::to_string(got));
  }

  const ElementwiseArguments& arguments_;
  ElementwiseProblem& problem_;
};

Status fill(const ElementwiseArguments& arguments, ElementwiseProblem& problem) {
  Filler filler(arguments, problem);
  if (Status s = filler.extents(); !s) return s;
  for (const expression::Tensor& input : arguments.expression.inputs()) {
    if (Status s = filler.add(input, false); !s) return s;
  }
  for (const expression::Output& output : arguments.expression.outputs()) {
    if (Status s = filler.add(output.tensor, true); !s) return s;
  }
  return {};
}

}  // namespace

Status normalise(const ElementwiseArguments& arguments, const OperandList& operands,
                 ElementwiseProblem& problem) {
  if (Status s = check_expression(arguments.expression); !s) return s;
  if (Status s = check_names(arguments); !s) return s;
  problem = ElementwiseProblem();
  problem.expression = &arguments.expression;
  if (Status s = fill(arguments, problem); !s) return renamed(s, arguments);
  if (Status s = check_memory(operands); !s) return renamed(s, arguments);
  return renamed(check_overlaps(operands), arguments);
}

}  // namespace quarry::detail::elementwise
