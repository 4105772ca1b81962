/// The tensors that arguments give an expression.
#pragma once

#include <string>

#include "quarry/tensor.hpp"

namespace quarry {

/// A tensor that an expression names. In calls it goes by its place in the arguments' list:
/// tensor_operand(place), except `out`, which is Operand::out.
struct ExpressionTensor {
  std::string name = {};
  /// Not given (without a type) for a scalar that is a value.
  TensorView view = {};
  /// Of a scalar without a view. Rounded to the scalar's type.
  double value = 0;
};

}  // namespace quarry
