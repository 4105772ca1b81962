/// Epilogues of groups that a user wrote: the expression stands behind the parameters of the groups, and its
/// tensors have an entry for each group, or one for all.
#pragma once

#include "common/expression_epilogue.cuh"
#include "common/wide_epilogue.cuh"
#include "grouped_gemm/schedule.cuh"

namespace quarry {

/// An expression of each element by itself. @tparam Whole the kernel's parameters with the expression
template <class Code, class Whole, class Sum, class Out, EpilogueForm form>
class GroupEpilogue : public ExpressionEpilogue<Code, Sum, Out, form> {
 public:
  template <class Params>
  QUARRY_DEVICE GroupEpilogue(const GemmParams& params, const WorkOf<GroupEntry<Params>>& work)
      : ExpressionEpilogue<Code, Sum, Out, form>(static_cast<const Whole&>(work.params).expression,
                                                 work.tensor_entry(), params.out, work.out().batch) {}
};

/// One with gated pairs or reductions.
template <class Code, class Whole, class Sum, class Out, EpilogueForm form>
class WideGroupEpilogue : public WideEpilogue<Code, Sum, Out, form> {
 public:
  template <class Params>
  QUARRY_DEVICE WideGroupEpilogue(const GemmParams& params, const WorkOf<GroupEntry<Params>>& work)
      : WideEpilogue<Code, Sum, Out, form>(static_cast<const Whole&>(work.params), params,
                                           work.tensor_entry(), work.out().batch) {}
};

/// The code of an expression for kernels of groups. @tparam Params those without an expression
template <class Code, class Params>
struct GroupCode : Code {
  template <class Sum, class Out, EpilogueForm form>
  using For = GroupEpilogue<Code, WithExpression<Params>, Sum, Out, form>;
};
template <class Code, class Params>
struct WideGroupCode : Code {
  template <class Sum, class Out, EpilogueForm form>
  using For = WideGroupEpilogue<Code, WithReductions<Params>, Sum, Out, form>;
};

}  // namespace quarry
