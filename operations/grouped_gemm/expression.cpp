#include "operations/grouped_gemm/expression.hpp"

#include <string>

#include "basic/text.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/gemm/expression.hpp"
#include "operations/grouped_gemm/problem.hpp"

namespace quarry::detail::grouped_gemm {

GivenExpression given_expression(const GroupedGemmArguments& args) {
  const bool is_contiguous = form_of(args) == GroupForm::contiguous;
  return {.expression = &*args.expression,
          .tensors = args.tensors,
          .out = &args.out,
          .column_entries = is_contiguous ? std::optional(args.b.extents[0]) : std::nullopt};
}

Status check_expression(const GroupedGemmArguments& args, DType accumulator) {
  if (Status s = check_alone(args); !s || !args.expression) return s;
  if (find_tensor(args.tensors, "sizes") != nullptr)
    return invalid(
        "The expression has a tensor `sizes`, which is the name of an operand of grouped GEMMs: give it "
        "another name");
  if (args.expression->pairs() == expression::Pairs::eights)
    return {StatusCode::unsupported,
            "Gated pairs in blocks of eight columns are not computed by kernels of grouped GEMMs yet. Pairs "
            "of two halves are: " +
                quoted(args.expression->text())};
  return check_given(given_expression(args), "a grouped GEMM", accumulator);
}

}  // namespace quarry::detail::grouped_gemm
