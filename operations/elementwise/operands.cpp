/// The operands of an elementwise problem: the one place that lists them.
#include <algorithm>

#include "operations/common/expression/tensors.hpp"
#include "operations/elementwise/operation.hpp"
#include "operations/elementwise/problem.hpp"

namespace quarry::detail::elementwise {

Operand operand_name(const ElementwiseArguments& arguments, std::size_t place) {
  if (arguments.tensors[place].name == "out") return Operand::out;
  return tensor_operand(static_cast<int>(place));
}

/// Lists what has a name; a problem with more tensors is refused by its check.
void Rules::operands(const ElementwiseArguments& arguments, OperandList& list) {
  const auto& tensors = arguments.tensors;
  const auto outputs = arguments.expression.outputs();
  const auto is_output = [&](const ExpressionTensor& tensor) {
    return std::ranges::any_of(outputs, [&](const auto& o) { return o.tensor.name == tensor.name; });
  };
  const auto out = std::ranges::find(tensors, "out", &ExpressionTensor::name);
  static constexpr TensorView none;
  list.add({.name = Operand::out, .view = out == tensors.end() ? &none : &out->view, .is_output = true});
  const std::size_t count = std::min(tensors.size(), std::size_t{tensor_operands});
  for (const bool outputs_first : {true, false}) {
    for (std::size_t i = 0; i < count; ++i) {
      const TensorView& view = tensors[i].view;
      if (tensors[i].name == "out" || view.dtype == DType::none) continue;
      if (is_output(tensors[i]) != outputs_first) continue;
      const bool same_size = bits_of(view.dtype) == bits_of(list.front().view->dtype) &&
                             is_read_before_out(arguments.expression, tensors[i].name);
      list.add({.name = tensor_operand(static_cast<int>(i)),
                .view = &view,
                .is_output = outputs_first,
                .may_be_out = !outputs_first && same_size});
    }
  }
}

}  // namespace quarry::detail::elementwise
