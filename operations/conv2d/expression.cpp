#include "operations/conv2d/expression.hpp"

#include <string>

#include "basic/text.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/gemm/expression.hpp"

namespace quarry::detail::conv2d {
namespace {

using expression::Shape;

/// Tensors have channels of the output, or all of its extents.
Status check_shape(const expression::Tensor& tensor, Direction direction) {
  const Shape shape = *tensor.shape;
  if (shape == Shape::per_row)
    return invalid(
        about_tensor(tensor.name) +
        "is declared per_row: outputs of a convolution have no rows; expected scalar, per_column or "
        "row");
  if (shape == Shape::column)
    return invalid(about_tensor(tensor.name) +
                   "is declared col: channels of a convolution's tensors are contiguous; expected row");
  if (shape == Shape::per_column && direction == Direction::wgrad)
    return invalid(
        about_tensor(tensor.name) +
        "is declared per_column: the output of wgrad has no channels of an image; expected scalar or "
        "row");
  return {};
}

Status check_shapes(const Expression& expression, Direction direction) {
  for (const expression::Tensor& input : expression.inputs()) {
    if (Status s = check_shape(input, direction); !s) return s;
  }
  for (const expression::Output& output : expression.outputs()) {
    if (Status s = check_shape(output.tensor, direction); !s) return s;
  }
  return {};
}

}  // namespace

GivenExpression given_expression(const Conv2dArguments& args) {
  const bool is_wgrad = args.direction == Direction::wgrad;
  return {.expression = &*args.expression,
          .tensors = args.tensors,
          .out = &args.out,
          .first_row = 0,
          .first_column = static_cast<std::uint8_t>(is_wgrad ? 1 : 3)};
}

Status check_expression(const Conv2dArguments& args, DType accumulator) {
  if (Status s = check_alone(args); !s || !args.expression) return s;
  if (Status s = check_by_element(*args.expression, "kernels of convolutions"); !s) return s;
  if (gathers(*args.expression))
    return {StatusCode::unsupported,
            "Rows that an index chooses are not read by kernels of convolutions yet: " +
                quoted(args.expression->text())};
  if (Status s = check_shapes(*args.expression, args.direction); !s) return s;
  return check_given(given_expression(args), "a convolution", accumulator);
}

}  // namespace quarry::detail::conv2d
