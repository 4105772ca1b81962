/// What entries with an expression include beside kernel.cuh: the output and the expression's tensors are
/// matrices of the product.
#pragma once

#include "common/expression_epilogue.cuh"
#include "conv2d_simt/kernel.cuh"

namespace quarry::conv2d_simt {

template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithExpression<Conv2dParams>& params) {
  kernel<config, CodeBehind<Code, Conv2dParams>>(static_cast<const Conv2dParams&>(params));
}

}  // namespace quarry::conv2d_simt
