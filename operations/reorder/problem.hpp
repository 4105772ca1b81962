/// Reorders as arguments: from what a caller wrote to what families decide by.
#pragma once

#include "operations/common/operand_list.hpp"
#include "quarry/reorder.hpp"
#include "quarry/status.hpp"
#include "reorder_matrix/family.hpp"

namespace quarry::detail {

/// Checks the arguments and fills `problem`, as the normalise of a GEMM does. `to` decides the type and the
/// extents.
/// @param operands the list of these arguments
Status normalise(const ReorderArguments& arguments, const OperandList& operands, ReorderProblem& problem);

/// Fills `problem` without a check. @pre normalise accepts the arguments
void describe(const ReorderArguments& arguments, ReorderProblem& problem);

}  // namespace quarry::detail
