/// What entries with an expression include beside kernel.cuh: the expression of gemm_sm90, whose tensors have
/// an entry for each problem, or one for all.
#pragma once

#include "gemm_list_sm90/kernel.cuh"
#include "gemm_sm90/expression.cuh"

namespace quarry::gemm_list_sm90 {

/// Both steps of a launch: the first one, too, has the expression compiled in, and does not use it.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithExpression<ListTensorGemmParams>& params) {
  run_step<config, CodeBehind<Code, ListTensorGemmParams>>(params, nullptr);
}

}  // namespace quarry::gemm_list_sm90
