/// Random expressions.
#pragma once

#include "lab/problems/dice.hpp"
#include "quarry/expression.hpp"

namespace quarry::lab {

/// What random expressions may have.
struct ExpressionLimits {
  /// The type of the sums, `none` for an expression of tensors alone.
  DType sum = DType::f32;
  /// Levels of functions, at least 1.
  int depth = 4;
  int inputs = 6;
  /// Outputs beside `out`.
  int more_outputs = 3;
  bool reductions = true;
  bool groups = true;
  /// Whether the sums may be a gated pair.
  bool pairs = true;
};

/// An expression of any functions, types and shapes within the limits; the same for the same dice. Its types
/// may be all that the CPU computes; a caller asks for another if a kernel lacks one.
Expression random_expression(Dice& dice, const ExpressionLimits& limits);

/// A random expression that kernels compute which finish each element by itself, of at most eight tensors: of
/// types of whole bytes, its outputs of types that kernels round to.
/// @param out type of `out`; none: any. @param only_rows matrices have contiguous rows
/// @pre the limits have no pairs, and reductions and groups only where the operation computes them
Expression random_kernel_expression(Dice& dice, const ExpressionLimits& limits, DType out, bool only_rows);

}  // namespace quarry::lab
