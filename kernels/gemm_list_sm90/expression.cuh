/// What entries with an expression include beside kernel.cuh: the expression of gemm_sm90, whose tensors have
/// an entry for each problem, or one for all.
#pragma once

#include "gemm_list/pairs.cuh"
#include "gemm_list/reductions.cuh"
#include "gemm_list_sm90/kernel.cuh"
#include "gemm_sm90/expression.cuh"

namespace quarry::gemm_sm90 {

/// Of gated pairs, all of the kernel sees that there are some by its parameters' type. How they lie is known
/// to those that walk, by their sources.
template <Config config>
struct WorkListOf<config, WithReductions<ListTensorGemmParams>> {
  using Type = gemm_list_sm90::TensorList<config, 2>;
};

template <Config config>
struct HandingOf<config, WithReductions<ListTensorGemmParams>>
    : HandsOver<config, WithReductions<ListTensorGemmParams>, gemm_list_sm90::TensorWorkWords<true>> {
  using HandsOver<config, WithReductions<ListTensorGemmParams>,
                  gemm_list_sm90::TensorWorkWords<true>>::HandsOver;
};

}  // namespace quarry::gemm_sm90

namespace quarry::gemm_list_sm90 {

/// The code of an expression with gated pairs or reductions behind the parameters of a list.
template <class Code>
struct WideListCode : Code {
  template <class>
  using Parameters = WithReductions<ListTensorGemmParams>;
};

/// Both steps of a launch: the first one, too, has the expression compiled in, and does not use it.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithExpression<ListTensorGemmParams>& params) {
  run_step<config, CodeBehind<Code, ListTensorGemmParams>>(params, nullptr);
}

/// What tiles leave: each warp parts of the columns of its 16 rows, and of all.
constexpr ListPieces pieces_of_tiles(const Config& c) {
  const gemm_sm90::Config tile = tile_config(c);
  return {cluster_tile(tile),
          c.cluster.n,
          gemm_sm90::OutputBox::rows,
          1,
          c.cluster.m,
          c.cluster.n * gemm_sm90::storing_warps(tile)};
}

/// The same of an expression with gated pairs or reductions, also in the step that finishes lines.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithReductions<ListTensorGemmParams>& params) {
  constexpr int unit = list_unit<Code>(config.layouts.b, config.alignment.b);
  if (params.reductions.is_finish) {
    finish_list<Code, pieces_of_tiles(config), unit>(params, params.gemm, threads(config));
  } else if constexpr (Code::is_gated) {
    constexpr gemm_sm90::Config tile = tile_config(config);
    if (params.makes_maps) return run_first_step<config, unit>(params);
    gemm_sm90::run<tile, WideListCode<Code>, ListSources<tile, unit, has_halves<Code>()>>(params, nullptr);
  } else {
    run_step<config, WideListCode<Code>>(params, nullptr);
  }
}

}  // namespace quarry::gemm_list_sm90
