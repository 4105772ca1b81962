/// Expressions of Python: text, or functions that are called with values to see what they compute.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
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

/// Takes the parts of an epilogue, or its expression and that one's tensors, into the arguments of a product.
/// @param epilogue as EpilogueArguments, a text or a function; none leaves all as it is
/// @param out as it was given
/// @param owner holds the tensors
template <class Arguments>
void take_epilogue(nb::handle epilogue, nb::handle out, OperationArguments& owner, Arguments& arguments) {
  if (epilogue.is_none()) return;
  const PythonEpilogue given = epilogue_of(epilogue);
  DType sums = sum_type(arguments.a.dtype, arguments.b.dtype, arguments.accumulator);
  if (!given.expression) {
    arguments.c = owner.keep_if(given.c, "C");
    arguments.epilogue = standard_epilogue(owner, given, compute_type(sums, arguments.out.dtype));
    return;
  }
  if constexpr (std::is_same_v<Arguments, GemmArguments>) sums = sum_type(arguments);
  BoundExpression expressed = bound(*given.expression, {arguments.out, nb::borrow(out), sums}, owner);
  arguments.expression = std::move(expressed.expression);
  arguments.tensors = std::move(expressed.tensors);
}

/// A number of Python or numpy; nothing for tensors and all else. Raises ValueError, with the name, for one
/// that does not fit.
std::optional<double> number_of(nb::handle value, const char* name);

}  // namespace quarry::python
