/// What entries with an expression include beside kernel.cuh: the expression of gemm_sm90, whose tensors have
/// an entry for each group, or one for all.
#pragma once

#include "gemm_sm90/expression.cuh"
#include "grouped_gemm_sm90/kernel.cuh"

namespace quarry::grouped_gemm_sm90 {

/// The code of an expression that stands behind such parameters. @tparam Whole all of them
template <class Code, class Whole>
struct GroupCode : Code {
  template <class>
  using Parameters = Whole;
};

template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithExpression<Params>& params) {
  kernel<config, GroupCode<Code, WithExpression<Params>>>(static_cast<const Params&>(params));
}

/// The kernel of an expression with gated pairs or reductions of groups of columns.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithReductions<Params>& params) {
  kernel<config, GroupCode<Code, WithReductions<Params>>>(static_cast<const Params&>(params));
}

}  // namespace quarry::grouped_gemm_sm90
