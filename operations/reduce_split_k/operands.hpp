/// The operands of a reduction: the one place that lists them.
#pragma once

#include "operations/common/operand_list.hpp"
#include "quarry/reduce_split_k.hpp"

namespace quarry::detail {

/// Fills the list of a problem's operands. C is one where beta is not known to be 0.
void list_operands(const ReduceSplitKArguments& arguments, OperandList& operands);

}  // namespace quarry::detail
