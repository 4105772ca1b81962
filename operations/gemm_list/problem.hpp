/// Lists of GEMMs as arguments: from what a caller wrote to what families decide by.
#pragma once

#include "gemm_list/problem.hpp"
#include "operations/common/operand_list.hpp"
#include "quarry/gemm_list.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::gemm_list {

/// Whether the columns of a matrix are contiguous, and a leading dimension leads over them.
bool is_by_columns(const TensorView& view);

/// Checks the arguments and fills `problem`, as the normalise of a GEMM does. What the sizes and the leading
/// dimensions are is not looked at: they may be in device memory, and change from run to run.
/// @param operands the list of these arguments
Status normalise(const GemmListArguments& arguments, const OperandList& operands, GemmListProblem& problem);

/// Fills `problem` without a check. @pre normalise accepts the arguments
void describe(const GemmListArguments& arguments, GemmListProblem& problem);

}  // namespace quarry::detail::gemm_list
