#include "operations/reduce_split_k/operands.hpp"

#include "operations/common/epilogue_operands.hpp"

namespace quarry::detail {

void list_operands(const ReduceSplitKArguments& args, OperandList& operands) {
  operands.add({.name = Operand::out, .view = &args.out, .is_output = true});
  operands.add({.name = Operand::partials, .view = &args.partials});
  list_operands(args.c, args.epilogue, operands);
}

}  // namespace quarry::detail
