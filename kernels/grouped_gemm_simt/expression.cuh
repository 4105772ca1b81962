/// What entries with an expression include beside kernel.cuh: an expression takes the place of StandardChain.
#pragma once

#include "grouped_gemm/expression.cuh"
#include "grouped_gemm/reductions.cuh"
#include "grouped_gemm_simt/kernel.cuh"

namespace quarry::grouped_gemm_simt {

template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithExpression<GroupedGemmParams>& params) {
  kernel<config, GroupCode<Code, GroupedGemmParams>>(static_cast<const GroupedGemmParams&>(params));
}

/// What tiles leave: each warp has parts of all columns, and of all.
constexpr GroupPieces pieces_of_tiles(const Config& c) {
  return {c.tile.m, threads(c) / 32, c.tile.m, threads(c) / 32};
}

/// The kernel of an expression with gated pairs or reductions, in both steps.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithReductions<GroupedGemmParams>& params) {
  if (params.reductions.is_finish) {
    finish_groups<Code, pieces_of_tiles(config)>(params, params.gemm, threads(config));
  } else {
    kernel<config, WideGroupCode<Code, GroupedGemmParams>>(static_cast<const GroupedGemmParams&>(params));
  }
}

}  // namespace quarry::grouped_gemm_simt
