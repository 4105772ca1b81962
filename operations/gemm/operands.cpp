#include "operations/gemm/operands.hpp"

#include "operations/common/epilogue_operands.hpp"
#include "operations/gemm/expression.hpp"

namespace quarry::detail {

void list_operands(const GemmArguments& args, OperandList& operands) {
  const bool multiplies = !is_zero(args.epilogue.alpha);
  operands.add({.name = Operand::out, .view = &args.out, .is_output = true});
  operands.add({.name = Operand::a, .view = &args.a, .is_unused = !multiplies});
  operands.add({.name = Operand::b, .view = &args.b, .is_unused = !multiplies});
  operands.add(args.a_scale, {.name = Operand::a_scale, .is_unused = !multiplies});
  operands.add(args.b_scale, {.name = Operand::b_scale, .is_unused = !multiplies});
  operands.add(args.b_zero, {.name = Operand::b_zero, .is_unused = !multiplies});
  if (args.expression) return list_tensors(given_expression(args), operands);
  list_operands(args.c, args.epilogue, operands);
}

}  // namespace quarry::detail
