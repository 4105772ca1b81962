/// What entries with an expression include beside kernel.cuh: an expression takes the place of StandardChain.
#pragma once

#include "grouped_gemm/expression.cuh"
#include "grouped_gemm_sm80/kernel.cuh"

namespace quarry::grouped_gemm_sm80 {

template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithExpression<GroupedGemmParams>& params) {
  kernel<config, GroupCode<Code, GroupedGemmParams>>(static_cast<const GroupedGemmParams&>(params));
}

/// The kernel of an expression with gated pairs or reductions of groups of columns.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithReductions<GroupedGemmParams>& params) {
  kernel<config, WideGroupCode<Code, GroupedGemmParams>>(static_cast<const GroupedGemmParams&>(params));
}

}  // namespace quarry::grouped_gemm_sm80
