/// What entries with an expression include beside kernel.cuh: the expression of gemm_sm90, over the product's
/// matrices.
#pragma once

#include "conv2d_sm90/kernel.cuh"
#include "gemm_sm90/expression.cuh"

namespace quarry::conv2d_sm90 {

template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithExpression<TensorConv2dParams>& params) {
  kernel<config, CodeBehind<Code, TensorConv2dParams>>(static_cast<const TensorConv2dParams&>(params));
}

}  // namespace quarry::conv2d_sm90
