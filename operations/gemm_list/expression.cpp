#include "operations/gemm_list/expression.hpp"

#include <string>

#include "basic/text.hpp"
#include "gemm_list/params.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/gemm/expression.hpp"

namespace quarry::detail::gemm_list {

GivenExpression given_expression(const GemmListArguments& args) {
  return {.expression = &*args.expression, .tensors = args.tensors, .out = &args.out, .takes_arrays = true};
}

std::int64_t product_columns(const GemmListArguments& args) {
  const bool is_gated = args.expression && args.expression->is_gated();
  return args.out.extents[args.out.rank - 1U] * (is_gated ? 2 : 1);
}

int least_pair_unit(const GemmListArguments& args) {
  if (!args.expression || !args.expression->is_gated()) return 1;
  return pair_unit(args.expression->pairs() == expression::Pairs::eights, Layout::column, 1);
}

Status check_expression(const GemmListArguments& args, DType accumulator) {
  if (Status s = check_alone(args); !s || !args.expression) return s;
  for (const std::string_view name : {"sizes", "leading"}) {
    if (find_tensor(args.tensors, name) == nullptr) continue;
    return invalid("The expression has a tensor " + quoted(name) +
                   ", which is the name of an operand of lists of GEMMs: give it another name");
  }
  return check_given(given_expression(args), "a list of GEMMs", accumulator);
}

}  // namespace quarry::detail::gemm_list
