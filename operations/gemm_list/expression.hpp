/// Expressions of lists of GEMMs: a GEMM's, of values of each element, whose tensors lie beside the bounds of
/// all problems.
#pragma once

#include "gemm/problem.hpp"
#include "quarry/gemm_list.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::gemm_list {

/// The expression of arguments that have one.
GivenExpression given_expression(const GemmListArguments& arguments);

/// Refuses what no list computes, whatever the extents are: gated pairs and reductions.
Status check_kind(const GemmListArguments& arguments);

/// Checks the expression and its tensors, or that there are no tensors without one, and nothing beside one.
/// @param accumulator of the sums. @pre check_kind, and A, B and `out` were checked
Status check_expression(const GemmListArguments& arguments, DType accumulator);

}  // namespace quarry::detail::gemm_list
