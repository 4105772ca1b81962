/// The operands of a grouped GEMM: the one place that lists them.
#include "operations/common/epilogue_operands.hpp"
#include "operations/gemm/expression.hpp"
#include "operations/grouped_gemm/expression.hpp"
#include "operations/grouped_gemm/operation.hpp"
#include "operations/grouped_gemm/problem.hpp"

namespace quarry::detail::grouped_gemm {

void Rules::operands(const GroupedGemmArguments& args, OperandList& list) {
  const bool multiplies = !is_zero(args.epilogue.alpha);
  const bool may_stay = form_of(args) != GroupForm::ragged_k;
  list.add({.name = Operand::out,
            .view = &args.out,
            .is_output = true,
            .may_stay = may_stay && !args.zero_outside});
  list.add({.name = Operand::a, .view = &args.a, .is_unused = !multiplies});
  list.add({.name = Operand::b, .view = &args.b, .is_unused = !multiplies});
  list.add(args.a_scale, {.name = Operand::a_scale, .is_unused = !multiplies});
  list.add(args.b_scale, {.name = Operand::b_scale, .is_unused = !multiplies});
  list.add({.name = Operand::sizes, .view = &args.sizes});
  if (args.expression) return list_tensors(given_expression(args), list, may_stay);
  list_operands(args.c, args.epilogue, list, may_stay);
}

}  // namespace quarry::detail::grouped_gemm
