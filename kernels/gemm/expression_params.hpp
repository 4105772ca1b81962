/// What a GEMM kernel with an expression compiled in is launched with, behind its other parameters. Plain
/// constexpr C++, shared by host and device.
#pragma once

#include "common/matrix_params.hpp"

namespace quarry {

/// Tensors of an expression beside the output, at most.
inline constexpr int gemm_expression_tensors = 8;

/// Of an input whose rows an index chooses: how many there are, and whether they are columns of the matrix as
/// kernels see it, which compute the transpose.
struct GatheredRows {
  int count;
  bool are_columns;
};

/// A tensor: inputs are read, outputs written. An input without data has one value.
struct ExpressionTensorParams {
  MatrixParams matrix;
  union {
    double value;  ///< a number of the tensor's type
    GatheredRows rows;
  };
};

/// The expression's inputs in its order, then its outputs but `out`.
struct ExpressionParams {
  ExpressionTensorParams tensors[gemm_expression_tensors];
};

/// The parameters of such a kernel. @tparam Params the parameters of the kernel without an expression
template <class Params>
struct WithExpression : Params {
  alignas(Params) ExpressionParams expression;  // behind the base's padding, where the host expects it
};

/// Whether the host finds the expression's parameters where kernels read them: at the end.
template <class Params>
inline constexpr bool expression_is_last = sizeof(WithExpression<Params>) ==
                                           sizeof(Params) + sizeof(ExpressionParams);

/// Of an expression with reductions: what the tiles of the first step leave in the workspace, in slots of 8
/// bytes, and a second step with the same code adds up:
///   rows      [reduction][part][batch entry][row]
///   columns   [reduction][batch entry][part][column of the output]
///   all       [reduction][part]
/// Groups of rows that follow one another in one entry have their parts of columns one behind the other, as
/// entries do: a group that begins with row b has those from b / rows + its number on, in pieces of so many
/// rows as a part is of. So no two groups share one, wherever they begin.
struct ReductionParams {
  void* partials;
  /// First slots of the parts of columns, and of all.
  long long columns_at;
  long long all_at;
  /// Parts of a row, of the columns of all entries together, and of all.
  long long row_parts;
  long long column_parts;
  long long all_parts;
  /// This is the second step.
  bool is_finish;
};

/// The parameters of a kernel with an expression that has reductions or gated pairs.
template <class Params>
struct WithReductions : Params {
  alignas(Params) ReductionParams reductions;  // as in WithExpression
  ExpressionParams expression;
};

}  // namespace quarry
