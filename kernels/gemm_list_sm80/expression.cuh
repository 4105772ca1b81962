/// What entries with an expression include beside kernel.cuh: an expression takes the place of StandardChain.
#pragma once

#include "gemm_list/expression.cuh"
#include "gemm_list_sm80/kernel.cuh"

namespace quarry::gemm_list_sm80 {

template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithExpression<GemmListParams>& params) {
  compute_list<config, ListCode<Code>>(params);
}

/// The kernel of an expression with gated pairs or reductions of groups of columns.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithReductions<GemmListParams>& params) {
  compute_list<config, WideListCode<Code>>(params);
}

}  // namespace quarry::gemm_list_sm80
