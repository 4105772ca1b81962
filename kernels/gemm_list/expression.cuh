/// Epilogues of lists that a user wrote, for kernels that take the parameters of a problem's outputs: the
/// expression stands behind the parameters of the list, and its tensors have an entry for each problem, or
/// one for all.
#pragma once

#include "common/expression_epilogue.cuh"
#include "gemm_list/schedule.cuh"

namespace quarry {

/// The parameters that a problem's outputs are written by, and the kernel's tensors.
struct ExpressedOutputs : GemmParams {
  const ExpressionParams& expression;
};

QUARRY_DEVICE ExpressedOutputs outputs_of(const WithExpression<GemmListParams>& params,
                                          const ListEntry& problem) {
  return {outputs_of(static_cast<const GemmListParams&>(params), problem), params.expression};
}

/// The code of an expression of each element by itself, for such kernels.
template <class Code>
struct ListCode : Code {
  template <class>
  using Parameters = ExpressedOutputs;
  template <class Sum, class Out, EpilogueForm form>
  using For = ExpressionEpilogue<ListCode, Sum, Out, form>;
};

}  // namespace quarry
