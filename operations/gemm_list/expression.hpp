/// Expressions of lists of GEMMs: a GEMM's, whose tensors lie beside the bounds of all problems.
#pragma once

#include <cstdint>

#include "gemm/problem.hpp"
#include "quarry/gemm_list.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::gemm_list {

/// The expression of arguments that have one.
GivenExpression given_expression(const GemmListArguments& arguments);

/// The bound of N: columns of B, of which gated pairs have twice as many as the output.
/// @pre the output has a rank of 1 or more
std::int64_t product_columns(const GemmListArguments& arguments);

/// What N of each problem is a multiple of, whichever kernel computes it; 1 without gated pairs.
int least_pair_unit(const GemmListArguments& arguments);

/// Checks the expression and its tensors, or that there are no tensors without one, and nothing beside one.
/// @param accumulator of the sums. @pre A, B and `out` were checked
Status check_expression(const GemmListArguments& arguments, DType accumulator);

}  // namespace quarry::detail::gemm_list
