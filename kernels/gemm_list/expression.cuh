/// Epilogues of lists that a user wrote, for kernels that take the parameters of a problem's outputs: the
/// expression stands behind the parameters of the list, and its tensors have an entry for each problem, or
/// one for all.
#pragma once

#include "common/expression_epilogue.cuh"
#include "common/wide_epilogue.cuh"
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

/// The same of an expression with gated pairs or reductions.
struct WideOutputs : ExpressedOutputs {
  const ReductionParams& reductions;
};

QUARRY_DEVICE WideOutputs outputs_of(const WithReductions<GemmListParams>& params, const ListEntry& problem) {
  return {{outputs_of(static_cast<const GemmListParams&>(params), problem), params.expression},
          params.reductions};
}

/// The epilogue of such an expression.
template <class Code, class Sum, class Out, EpilogueForm form>
class WideListEpilogue : public WideEpilogue<Code, Sum, Out, form> {
 public:
  QUARRY_DEVICE WideListEpilogue(const GemmParams& params, const ListWork& work)
      : WideEpilogue<Code, Sum, Out, form>(static_cast<const WideOutputs&>(params), params, work.batch,
                                           work.batch) {}
};

/// The code of an expression for such kernels: of each element by itself, or wide.
template <class Code>
struct ListCode : Code {
  template <class>
  using Parameters = ExpressedOutputs;
  template <class Sum, class Out, EpilogueForm form>
  using For = ExpressionEpilogue<ListCode, Sum, Out, form>;
};
template <class Code>
struct WideListCode : Code {
  template <class Sum, class Out, EpilogueForm form>
  using For = WideListEpilogue<Code, Sum, Out, form>;
};

}  // namespace quarry
