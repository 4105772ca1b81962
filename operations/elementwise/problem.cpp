#include "operations/elementwise/problem.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "operations/common/expression/tensors.hpp"
#include "operations/common/operand_checks.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry::detail::elementwise {
namespace {

using expression::Shape;

constexpr std::string_view kernels = "elementwise kernels";

Status check_expression(const Expression& expression) {
  if (expression.sum_type() != DType::none)
    return invalid("An elementwise expression has no sums; its text uses `sum`");
  return check_rounding(expression, kernels);
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
  return check_tensor_names(expression, arguments.tensors);
}

/// Fills one of the problem's tensors after another.
class Filler {
 public:
  Filler(const ElementwiseArguments& arguments, ElementwiseProblem& problem)
      : arguments_(arguments), problem_(problem) {}

  /// `out` decides the extents; where it is what a reduction leaves, another output of elements does, or else
  /// the inputs.
  Status extents() {
    std::ranges::fill(extents_, 1);
    const ExpressionTensor* const out = find_tensor(arguments_.tensors, "out");
    if (out == nullptr) return {StatusCode::invalid_arguments, Reason::missing, Operand::out};
    if (Status s = check_tensor_view(*out, Operand::out, DType::none); !s) return s;
    if (const expression::Output* const output = output_of_elements()) {
      const ExpressionTensor* const tensor = find_tensor(arguments_.tensors, output->tensor.name);
      if (tensor == nullptr) return invalid(about_tensor(output->tensor.name) + "is missing");
      if (Status s = take_extents(*tensor, Shape::row); !s) return s;
    } else {
      for (const expression::Tensor& input : arguments_.expression.inputs()) {
        const ExpressionTensor* const tensor = find_tensor(arguments_.tensors, input.name);
        if (tensor == nullptr || tensor->view.dtype == DType::none) continue;
        if (Status s = take_extents(*tensor, *input.shape); !s) return s;
      }
    }
    if (product_of_extents(extents_[0], extents_[1], extents_[2], extents_[3]) == too_many)
      return invalid("The problem has too many elements: expected fewer than 2^63, got extents of " +
                     std::to_string(extents_[0]) + " x " + std::to_string(extents_[1]) + " x " +
                     std::to_string(extents_[2]) + " x " + std::to_string(extents_[3]));
    std::ranges::copy(extents_, problem_.params.extents);
    return {};
  }

  Status add(const expression::Tensor& declared, expression::Extent extent, bool is_output) {
    const ExpressionTensor* const tensor = find_tensor(arguments_.tensors, declared.name);
    if (tensor == nullptr) return invalid(about_tensor(declared.name) + "is missing");
    const Shape shape = *declared.shape;
    if (!is_output && shape == Shape::scalar && tensor->view.dtype == DType::none)
      return add_value(*tensor, declared.dtype);
    const auto place = static_cast<std::size_t>(tensor - arguments_.tensors.data());
    const Operand name = operand_name(arguments_, place);
    if (Status s = check_tensor_view(*tensor, name, declared.dtype); !s) return s;
    if (is_output) {
      if (Status s = check_output_tensor(*tensor, name); !s) return s;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(tensor->view.data);
    const std::uintptr_t bits = (address == 0 ? tensor->view.assumed_alignment : address) | 256;
    problem_.operands[problem_.tensors] = {.name = name,
                                           .type = tensor->view.dtype,
                                           .is_output = is_output,
                                           .has_elements = extent == expression::Extent::element,
                                           .is_gathered = shape == Shape::gathered,
                                           .alignment = static_cast<unsigned>(bits & (~bits + 1))};
    ElementwiseTensor& to = problem_.params.tensors[problem_.tensors++];
    to = {.data = tensor->view.data, .strides = {}, .value = 0};
    if (!is_output) ++problem_.inputs;
    if (Status s = put_strides(*tensor, shape, is_output, extents_after(extent, extents_), to.strides); !s)
      return s;
    if (shape == Shape::gathered) to.rows = rows_of(tensor->view);
    return {};
  }

 private:
  /// `out` if it has a value for each element, or another such output, or null.
  const expression::Output* output_of_elements() const {
    const expression::Output* found = nullptr;
    for (const expression::Output& output : arguments_.expression.outputs()) {
      if (output.extent != expression::Extent::element) continue;
      if (found == nullptr || output.tensor.name == "out") found = &output;
    }
    return found;
  }

  /// Takes over the extents of a tensor where they were 1.
  Status take_extents(const ExpressionTensor& tensor, Shape shape) {
    const auto place = static_cast<std::size_t>(&tensor - arguments_.tensors.data());
    if (Status s = check_tensor_view(tensor, operand_name(arguments_, place), DType::none); !s) return s;
    const std::size_t rank = tensor.view.rank;
    if (shape == Shape::scalar || (!has_rows(shape) && rank > 3)) return {};
    for (std::size_t i = 0; i < rank; ++i) {
      std::size_t at = 4U - rank + i;
      if (!has_rows(shape)) at = i + 1 < rank ? 3U - rank + i : shape == Shape::per_row ? 2 : 3;
      if (shape == Shape::gathered && at == 2) continue;
      if (extents_[at] == 1) extents_[at] = tensor.view.extents[i];
    }
    return {};
  }

  Status add_value(const ExpressionTensor& tensor, DType type) {
    problem_.operands[problem_.tensors] = {.type = type};
    ElementwiseTensor& to = problem_.params.tensors[problem_.tensors++];
    to = {.data = nullptr, .strides = {}, .value = 0};
    ++problem_.inputs;
    return put_value(tensor, type, to.value);
  }

  const ElementwiseArguments& arguments_;
  ElementwiseProblem& problem_;
  /// Inputs that are broadcast have few bytes and any number of elements.
  static constexpr std::int64_t too_many = std::numeric_limits<std::int64_t>::max();

  std::array<std::int64_t, 4> extents_ = {};
};

Status fill(const ElementwiseArguments& arguments, ElementwiseProblem& problem) {
  Filler filler(arguments, problem);
  if (Status s = filler.extents(); !s) return s;
  for (const expression::Tensor& input : arguments.expression.inputs()) {
    if (Status s = filler.add(input, expression::Extent::element, false); !s) return s;
  }
  for (const expression::Output& output : arguments.expression.outputs()) {
    if (Status s = filler.add(output.tensor, output.extent, true); !s) return s;
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
  const ReductionCounts counts = reduction_counts(arguments.expression);
  problem.reductions = {counts.groups, counts.rows, counts.columns, counts.all};
  if (Status s = fill(arguments, problem); !s) return s;
  if (Status s = check_memory(operands); !s) return with_names(s, arguments.tensors);
  return with_names(check_overlaps(operands), arguments.tensors);
}

}  // namespace quarry::detail::elementwise
