/// Expressions of grouped GEMMs: a GEMM's, whose tensors lie beside the outputs of all groups.
#pragma once

#include "gemm/problem.hpp"
#include "quarry/grouped_gemm.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::grouped_gemm {

/// The expression of arguments that have one.
GivenExpression given_expression(const GroupedGemmArguments& arguments);

/// Checks the expression and its tensors, or that there are no tensors without one, and nothing beside one.
/// @param accumulator of the sums. @pre A, B and `out` were checked
Status check_expression(const GroupedGemmArguments& arguments, DType accumulator);

}  // namespace quarry::detail::grouped_gemm
