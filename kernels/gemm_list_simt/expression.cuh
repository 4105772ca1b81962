/// What entries with an expression include beside kernel.cuh: an expression takes the place of StandardChain.
#pragma once

#include "gemm_list/expression.cuh"
#include "gemm_list/reductions.cuh"
#include "gemm_list_simt/kernel.cuh"

namespace quarry::gemm_list_simt {

template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithExpression<GemmListParams>& params) {
  compute_list<config, ListCode<Code>>(params);
}

/// What tiles leave: each warp has parts of all columns, and of all.
constexpr ListPieces pieces_of_tiles(const Config& c) {
  return {c.tile, 1, c.tile.m, threads(c) / 32, 1, threads(c) / 32};
}

/// The kernel of an expression with gated pairs or reductions, in both steps.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithReductions<GemmListParams>& params) {
  if (params.reductions.is_finish) {
    constexpr int unit = list_unit<Code>(config.layouts.b, 1);
    finish_list<Code, pieces_of_tiles(config), unit>(params, params.gemm, threads(config));
  } else {
    compute_list<config, WideListCode<Code>>(params);
  }
}

}  // namespace quarry::gemm_list_simt
