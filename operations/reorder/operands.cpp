/// The operands of a reorder: the one place that lists them.
#include "operations/reorder/operation.hpp"

namespace quarry::detail::reorder {

void Rules::operands(const ReorderArguments& arguments, OperandList& list) {
  list.add({.name = Operand::to, .view = &arguments.to, .is_output = true});
  list.add({.name = Operand::from, .view = &arguments.from});
}

}  // namespace quarry::detail::reorder
