/// The operands of a list of GEMMs: the one place that lists them.
#include "operations/common/epilogue_operands.hpp"
#include "operations/gemm/expression.hpp"
#include "operations/gemm_list/expression.hpp"
#include "operations/gemm_list/operation.hpp"

namespace quarry::detail::gemm_list {

void Rules::operands(const GemmListArguments& args, OperandList& list) {
  const bool multiplies = !is_zero(args.epilogue.alpha);
  OperandList matrices;
  matrices.add({.name = Operand::out, .view = &args.out, .is_output = true, .may_stay = true});
  matrices.add({.name = Operand::a, .view = &args.a, .is_unused = !multiplies});
  matrices.add({.name = Operand::b, .view = &args.b, .is_unused = !multiplies});
  matrices.add(args.a_scale, {.name = Operand::a_scale, .is_unused = !multiplies});
  matrices.add(args.b_scale, {.name = Operand::b_scale, .is_unused = !multiplies});
  if (args.expression) {
    list_tensors(given_expression(args), matrices, true);
  } else {
    list_operands(args.c, args.epilogue, matrices, true);
  }
  for (OperandRef operand : matrices) {
    operand.has_own_extents = operand.view->is_pointer_array;
    list.add(operand);
  }
  list.add({.name = Operand::sizes, .view = &args.sizes});
  list.add(args.leading, {.name = Operand::leading});
  for (const ScalarRef& scalar : matrices.scalars()) list.add(scalar.name, *scalar.scalar);
}

}  // namespace quarry::detail::gemm_list
