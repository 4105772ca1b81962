/// What entries with an expression include beside kernel.cuh: the expression of gemm_sm90, whose tensors have
/// an entry for each group, or one for all.
#pragma once

#include "gemm_sm90/expression.cuh"
#include "grouped_gemm/reductions.cuh"
#include "grouped_gemm_sm90/kernel.cuh"

namespace quarry::gemm_sm90 {

template <Config config>
struct WorkListOf<config, WithReductions<GroupedTensorGemmParams>>
    : WorkListOf<config, GroupedTensorGemmParams> {};

/// Beside gated pairs, rows outside of all groups have half of B's columns.
template <Config config>
struct BesideCopies<config, WithReductions<GroupedTensorGemmParams>>
    : BesideCopies<config, GroupedTensorGemmParams> {
  QUARRY_DEVICE static void run(const GroupedTensorGemmParams& params, arch::SharedAddress memory,
                                const ClusterPlace& place) {
    if (params.groups.form == GroupForm::ragged_k) {
      grouped_gemm_sm90::clear_cut_stages<config>(params, memory, place);
    } else if (params.groups.zero_outside) {
      grouped_gemm_sm90::clear_outside<Element<config.types.out>, 2>(params);
    }
  }
};

}  // namespace quarry::gemm_sm90

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

/// What tiles leave: each warp parts of the columns of its 16 rows, and of all.
constexpr GroupPieces pieces_of_tiles(const Config& c) {
  const int blocks = c.cluster.m * c.cluster.n;
  return {gemm_sm90::OutputBox::rows, 1, c.tile.m * c.cluster.m,
          blocks * gemm_sm90::storing_warps(tile_config(c))};
}

/// The kernel of an expression with gated pairs or reductions, in both steps. Of a gated pair, all of the
/// kernel sees that there is one by its parameters' type.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithReductions<Params>& params) {
  using Grouped = GroupCode<Code, WithReductions<Params>>;
  if (params.reductions.is_finish) {
    finish_groups<Code, pieces_of_tiles(config)>(params, params.gemm, threads(config));
  } else if constexpr (Code::is_gated) {
    constexpr gemm_sm90::Config tile = tile_config(config);
    gemm_sm90::run<tile, Grouped, GroupSources<tile, true>>(params, nullptr);
  } else {
    kernel<config, Grouped>(static_cast<const Params&>(params));
  }
}

}  // namespace quarry::grouped_gemm_sm90
