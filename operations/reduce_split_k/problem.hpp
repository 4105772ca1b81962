/// Reductions as arguments: from what a caller wrote to what families decide by.
#pragma once

#include "operations/common/operand_list.hpp"
#include "quarry/reduce_split_k.hpp"
#include "quarry/status.hpp"
#include "reduce_split_k/family.hpp"

namespace quarry::detail {

/// Checks the arguments and fills `problem`, as the normalise of a GEMM does. `out` decides M, N, the rank
/// and the batch; the partial sums have one extent more, in front. How these lie is not checked, but said
/// (ReduceProblem::is_packed).
/// @param operands the list of these arguments
Status normalise(const ReduceSplitKArguments& arguments, const OperandList& operands, ReduceProblem& problem);

/// Fills `problem` without a check. @pre normalise accepts the arguments
void describe(const ReduceSplitKArguments& arguments, ReduceProblem& problem);

}  // namespace quarry::detail
