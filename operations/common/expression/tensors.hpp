/// The tensors that arguments give an expression: what every operation with expressions checks of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "quarry/expression.hpp"
#include "quarry/expression_tensor.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// "Operand `x` ", as messages begin.
std::string about_tensor(std::string_view name);

/// Whether a tensor has a value for each row and column.
constexpr bool is_matrix(expression::Shape shape) {
  return shape == expression::Shape::row || shape == expression::Shape::column;
}

/// Whether device code rounds values to a type.
constexpr bool is_rounded_to(DType type) { return bytes_of(type) > 0; }

/// The tensor of this name, or null.
const ExpressionTensor* find_tensor(std::span<const ExpressionTensor> tensors, std::string_view name);

/// Whether each tensor of the list is in the expression, and there once.
Status check_tensor_names(const Expression& expression, std::span<const ExpressionTensor> tensors);

/// Whether a tensor's view is one that kernels walk, of the declared type (none: any).
/// @param name what messages of other checks call it
Status check_tensor_view(const ExpressionTensor& tensor, Operand name, DType declared);

/// Whether kernels write an output of the view's type, each element once.
Status check_output_tensor(const ExpressionTensor& tensor, Operand name);

/// The strides of a tensor along four extents, 0 where its elements are shared. Fails where it does not fit
/// these extents. @pre check_tensor_view
Status put_strides(const ExpressionTensor& tensor, expression::Shape shape, bool is_output,
                   std::span<const std::int64_t, 4> extents, std::span<long long, 4> strides);

/// A scalar's value, rounded to its type; refused where kernels take no value of the type.
Status put_value(const ExpressionTensor& tensor, DType type, double& value);

/// The status with the tensors' own names in its message.
Status with_names(const Status& status, std::span<const ExpressionTensor> tensors);

/// Why an expression's values cannot be computed by kernels that finish each element by itself: reductions,
/// gated pairs, types that are not rounded to. @param kernels "elementwise kernels"
Status check_by_element(const Expression& expression, std::string_view kernels);

}  // namespace quarry::detail
