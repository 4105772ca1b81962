/// The sums of a tile as expressions read them: a few columns of a warp's 16 rows at a time.
#pragma once

#include "gemm_sm90/step_sums.cuh"

namespace quarry::gemm_sm90 {

/// Columns of a warp's 16 rows that are evaluated at once.
template <Config config>
constexpr int expression_columns = box_out(config).columns % 16 == 0 ? 16 : 8;

/// The same where that is little for each element: as many as the standard chain evaluates at once, unless
/// the sums leave few registers.
template <Config config, class Code>
constexpr int light_expression_columns =
    has_crowded_registers(config) || Code::operations > 12 || Code::tensors > 3 ? expression_columns<config>
                                                                                : step_columns(config);

/// The sums of `2 * count` columns from a place on, which is known when running only: a tree of branches.
/// @tparam columns of the tile among which it is, from column `first` on: all, or half of them
/// @tparam from, to the steps of so many columns among which it is
template <Config config, int columns, int first, int from, int to, int count, class Sum>
QUARRY_DEVICE void take_sums(StepValues<count, Sum>& x, const FinishedSums<config>& sums, int step) {
  constexpr int block_steps = columns / (2 * count);
  if constexpr (to - from == 1) {
    add_products<config, true>(x, Sum{1}, sums, from / block_steps, first + from % block_steps * (2 * count));
  } else {
    constexpr int middle = (from + to) / 2;
    if (step < middle) {
      take_sums<config, columns, first, from, middle>(x, sums, step);
    } else {
      take_sums<config, columns, first, middle, to>(x, sums, step);
    }
  }
}

/// The same of pairs in blocks of eight columns: the first sums of `2 * count` pairs, or their partners.
/// @tparam columns of the output in a tile. @tparam partner 0 or 1
template <Config config, int columns, int partner, int from, int to, int count, class Sum>
QUARRY_DEVICE void take_eights(StepValues<count, Sum>& x, const FinishedSums<config>& sums, int step) {
  constexpr int block_steps = columns / (2 * count);
  if constexpr (to - from == 1) {
    constexpr int first = from % block_steps * (count / 4);  // of the step's blocks of eight
    QUARRY_UNROLL
    for (int group = 0; group < count / 4; ++group) {
      QUARRY_UNROLL
      for (int half = 0; half < 2; ++half) {
        const auto pair = sum_pair(sums.block[from / block_steps], 2 * (first + group) + partner, half);
        QUARRY_UNROLL
        for (int i = 0; i < 2; ++i) {
          Sum& value = x.v[4 * group + 2 * half + i];
          value = added_product<true>(value, Sum{1}, static_cast<Sum>(pair.v[i]));
        }
      }
    }
  } else {
    constexpr int middle = (from + to) / 2;
    if (step < middle) {
      take_eights<config, columns, partner, from, middle>(x, sums, step);
    } else {
      take_eights<config, columns, partner, middle, to>(x, sums, step);
    }
  }
}

}  // namespace quarry::gemm_sm90
