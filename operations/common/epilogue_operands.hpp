/// The operands of the standard epilogue, for the operations that have it.
#pragma once

#include <optional>

#include "operations/common/epilogue_values.hpp"
#include "operations/common/operand_list.hpp"

namespace quarry::detail {

/// Adds C, where beta is not known to be 0, and what the epilogue itself reads and writes.
/// @param may_stay a run may leave elements of aux as they are
inline void list_operands(const std::optional<TensorView>& c, const Epilogue& e, OperandList& operands,
                          bool may_stay = false) {
  if (!is_zero(e.beta)) operands.add(c, {.name = Operand::c, .may_be_out = true});
  operands.add(e.bias, {.name = Operand::bias});
  operands.add(e.scale, {.name = Operand::scale});
  operands.add(e.residual, {.name = Operand::residual, .may_be_out = true});
  operands.add(e.aux, {.name = Operand::aux, .is_output = true, .may_stay = may_stay});
  operands.add(Operand::alpha, e.alpha);
  operands.add(Operand::beta, e.beta);
}

}  // namespace quarry::detail
