/// What entries with an expression include beside kernel.cuh: an expression takes the place of StandardChain.
#pragma once

#include "common/expression_epilogue.cuh"
#include "common/wide_epilogue.cuh"
#include "gemm/scaled_expression.cuh"
#include "gemm_simt/kernel.cuh"

namespace quarry::gemm_simt {

/// The kernel of an expression with gated pairs or reductions, in both steps.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithReductions<GemmParams>& params) {
  if (params.reductions.is_finish) {
    finish_reductions<Code>(params, params, threads(config));
  } else {
    kernel<config, Code>(static_cast<const GemmParams&>(params));
  }
}

/// The same of operands with scales.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithExpression<ScaledGemmParams>& params) {
  kernel<config, ScaledCode<Code>>(static_cast<const ScaledGemmParams&>(params));
}
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithReductions<ScaledGemmParams>& params) {
  if (params.reductions.is_finish) {
    finish_reductions<Code>(params, params.gemm, threads(config));
  } else {
    kernel<config, WideScaledCode<Code>>(static_cast<const ScaledGemmParams&>(params));
  }
}

}  // namespace quarry::gemm_simt
