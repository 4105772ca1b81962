/// The operands of a GEMM: the one place that lists them.
#pragma once

#include "operations/common/operand_list.hpp"
#include "quarry/gemm.hpp"

namespace quarry::detail {

/// Fills the list of a problem's operands. C is one where beta is not known to be 0.
void list_operands(const GemmArguments& arguments, OperandList& operands);

}  // namespace quarry::detail
