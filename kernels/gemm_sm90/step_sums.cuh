/// Sums from the registers where the main loop left them to the values of a step.
#pragma once

#include "gemm_sm90/box_values.cuh"
#include "gemm_sm90/shape.cuh"
#include "gemm_sm90/sums.cuh"

namespace quarry::gemm_sm90 {

/// x + factor * sum. @tparam pinned the compiler keeps to the place
template <bool pinned>
QUARRY_DEVICE float added_product(float x, float factor, float sum) {
  return pinned ? arch::pinned_fma(factor, sum, x) : arch::fma(factor, sum, x);
}
template <bool pinned>
QUARRY_DEVICE int added_product(int x, int factor, int sum) {
  return multiplied_added(factor, sum, x);
}

/// x + factor * sums, of the columns of a block from `first` on. All but `x` and `factor` must be known when
/// compiled, as registers have no index. @tparam pinned the compiler keeps to the place
template <Config config, bool pinned = false, int count, class Value>
QUARRY_DEVICE void add_products(StepValues<count, Value>& x, Value factor, const FinishedSums<config>& sums,
                                int block, int first) {
  QUARRY_UNROLL
  for (int group = 0; group < count / 4; ++group) {
    QUARRY_UNROLL
    for (int half = 0; half < 2; ++half) {
      const auto pair = sum_pair(sums.block[block], first / 8 + group, half);
      QUARRY_UNROLL
      for (int i = 0; i < 2; ++i) {
        Value& value = x.v[4 * group + 2 * half + i];
        value = added_product<pinned>(value, factor, static_cast<Value>(pair.v[i]));
      }
    }
  }
}

/// x + factor * sums of step `step`, of the steps [from, to), which is known when running only: a tree of
/// branches. A step has `2 * count` columns. @tparam to -1: to the last one
template <Config config, int from = 0, int to = -1, int count, class Value>
QUARRY_DEVICE void add_step(StepValues<count, Value>& x, Value factor, const FinishedSums<config>& sums,
                            int step) {
  constexpr int block_steps = config.tile.n / (2 * count);
  constexpr int end = to < 0 ? blocks_m(config) * block_steps : to;
  if constexpr (end - from == 1) {
    add_products<config, true>(x, factor, sums, from / block_steps, from % block_steps * (2 * count));
  } else {
    constexpr int middle = (from + end) / 2;
    if (step < middle) {
      add_step<config, from, middle>(x, factor, sums, step);
    } else {
      add_step<config, middle, end>(x, factor, sums, step);
    }
  }
}

}  // namespace quarry::gemm_sm90
