/// Expressions of Python: text, or functions that are called with values to see what they compute.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "arguments.hpp"
#include "epilogue.hpp"

namespace quarry::python {

/// What the tensors of an expression stand beside.
struct ExpressionPlace {
  /// Decides the extents.
  TensorView out;
  /// What the caller gave beside the expression as its output, so that it is not in the list of tensors; null
  /// where the list has it. An output of the expression that is the same object goes by `out`.
  nb::object out_owner = {};
  /// `none`: an expression of tensors alone.
  DType sums = DType::none;
};

/// An expression with its tensors, whose owners the arguments keep.
struct BoundExpression {
  Expression expression;
  std::vector<ExpressionTensor> tensors;
};

/// Gives an expression its tensors. A tensor's shape follows from its extents, as numpy broadcasts them: (N,)
/// and (1, N) have a value for each column, (M, 1) for each row, one element is a scalar. A number is a
/// scalar of f32, or of f64 beside f64. Raises Error as Expression::parse fails, and what a function raises.
BoundExpression bound(const ExpressionSource& given, const ExpressionPlace& place,
                      OperationArguments& arguments);

/// A number of Python or numpy; nothing for tensors and all else.
std::optional<double> number_of(nb::handle value);

}  // namespace quarry::python
