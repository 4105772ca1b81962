/// The main loop of weights: lanes read them from shared memory as they are stored, make 16-bit numbers of
/// them, and the matrix instruction takes these from registers. The sums of a group of K that shares its
/// scales join the finished ones times these.
#pragma once

#include "gemm/scale_view.cuh"
#include "gemm_sm90/k_groups.cuh"
#include "gemm_sm90/lane_weights.cuh"
#include "gemm_sm90/mainloop.cuh"
#include "gemm_sm90/warp_columns.cuh"

namespace quarry::gemm_sm90 {

/// The scales of a lane's two rows of weights. @tparam one_by_one as of RowValues: all groups have scales
template <Config config, bool one_by_one>
class WeightScales {
 public:
  /// @param row the upper one in the operand @param k of the first call @param k_end of the problem
  QUARRY_DEVICE WeightScales(const ScaleParams& params, int batch, int row, int rows, int k, int k_end)
      : k_log2_(params.k_log2),
        k_end_(k_end),
        values_(ScaleView(params, batch).place(0, 1, 0), params.values, params.lines_log2, row, rows,
                k >> params.k_log2) {}

  /// Those of the group that position `k` is in. Behind the end of K, where sums are 0: anything.
  QUARRY_DEVICE arch::Vector<float, 2> at(int k) {
    if ((!one_by_one && !values_.are_there()) || k >= k_end_) return {1, 1};
    return values_.at(k >> k_log2_);
  }

  QUARRY_DEVICE void skip(int groups) { values_.skip(groups); }

 private:
  int k_log2_;
  int k_end_;
  RowValues<float, one_by_one> values_;
};

/// Multiplies the sums of a group by the scales of the other operand's columns.
template <Config config, class Work>
QUARRY_DEVICE void scale_columns(Sums<config>& sums, const ScaleParams& params, const Work& work, int k) {
  if (k >= work.k()) return;
  const ScaleView view(params, work.b().batch);
  const int base = work.b().column;
  const int last = base + work.n() - 1;
  const int first = base + work.tile_n * config.tile.n + arch::lane_index() % 4 * 2;
  const float* const block = view.place(0, 1, view.block_at(k));
  QUARRY_UNROLL
  for (int group = 0; group < config.tile.n / 8; ++group) {
    QUARRY_UNROLL
    for (int i = 0; i < 2; ++i) {
      const int column = first + 8 * group + i < last ? first + 8 * group + i : last;
      const auto scale =
          arch::global_load<float>(block + (column >> params.lines_log2) * params.values.row_stride);
      sums.block[0].v[4 * group + i] *= scale;
      sums.block[0].v[4 * group + 2 + i] *= scale;
    }
  }
}

/// finished += scales * sums, all times the weights' unit. @param scales of the lane's two rows
template <Config config>
QUARRY_DEVICE void promote_rows(FinishedSums<config>& finished, const Sums<config>& sums,
                                const arch::Vector<float, 2>& scales) {
  QUARRY_UNROLL
  for (int i = 0; i < config.tile.n / 2; ++i) {
    float& value = finished.block[0].v[i];
    value = arch::fma(scales.v[i / 2 % 2], sums.block[0].v[i], value);
  }
}

/// The columns as the warpgroup's matrix instruction takes them: by a descriptor.
template <Config config>
class GroupColumns {
 public:
  QUARRY_DEVICE void begin(arch::SharedAddress tile) {
    constexpr OperandBox b = box_b(config);
    base_ = descriptor_at(b.descriptor(), tile);
  }
  QUARRY_DEVICE arch::MatrixDescriptor base() const { return base_; }

 private:
  arch::MatrixDescriptor base_;
};

template <Config config, bool by_warps = multiplies_by_warps(config)>
struct WeightColumnsOf {
  using Type = GroupColumns<config>;
};
template <Config config>
struct WeightColumnsOf<config, true> {
  using Type = WarpColumns<config>;
};
template <Config config>
using WeightColumns = typename WeightColumnsOf<config>::Type;

/// The products of the steps [from, to) of a stage, in the place of the sums, by the warps.
template <Config config, int from, int to>
QUARRY_DEVICE void multiply_weights(Sums<config>& sums, LaneWeights<config>& weights,
                                    const RowZeroPoints& zeros, const WarpColumns<config>& columns) {
  constexpr int blocks = WarpColumns<config>::blocks;
  arch::AccumulatorF32 of_block[blocks] = {};
  QUARRY_UNROLL
  for (int piece = from / 2; piece < to / 2; ++piece) {
    if (piece + 1 < weights.pieces) weights.read(piece + 1);
    arch::MatrixFragment right[blocks];
    QUARRY_UNROLL
    for (int block = 0; block < blocks; ++block) right[block] = columns.read(piece, block);
    QUARRY_UNROLL
    for (int i = 0; i < 2; ++i) {
      const arch::MatrixFragment left = weights.fragment(2 * piece + i, zeros);
      QUARRY_UNROLL
      for (int block = 0; block < blocks; ++block) {
        const arch::FragmentB pair = {right[block].v[2 * i], right[block].v[2 * i + 1]};
        arch::mma<Element<config.types.b>>(of_block[block], left, pair);
      }
    }
  }
  QUARRY_UNROLL
  for (int i = 0; i < 4 * blocks; ++i) sums.block[0].v[i] = of_block[i / 4].v[i % 4];
}

/// Starts the products of the steps [from, to) of a stage, the first one in the place of the sums. Each piece
/// of weights is converted while the products of those before it are under way.
template <Config config, int from, int to>
QUARRY_DEVICE void multiply_weights(Sums<config>& sums, LaneWeights<config>& weights,
                                    const RowZeroPoints& zeros, const GroupColumns<config>& columns) {
  constexpr OperandBox b = box_b(config);
  constexpr int at_once = 2;  // a piece
  QUARRY_UNROLL
  for (int first = from; first < to; first += at_once) {
    const int piece = first / at_once;
    if (piece + 1 < weights.pieces) weights.read(piece + 1);
    arch::MatrixFragment fragments[at_once];
    QUARRY_UNROLL
    for (int i = 0; i < at_once; ++i) fragments[i] = weights.fragment(first + i, zeros);
    arch::warpgroup_fence();
    QUARRY_UNROLL
    for (int i = 0; i < at_once; ++i) {
      arch::warpgroup_multiply_fragment<Element<config.types.b>>(
          sums.block[0], fragments[i],
          columns.base() + static_cast<unsigned>(b.k_step_offset(first + i)) / 16, first + i == from ? 0 : 1);
    }
  }
  arch::warpgroup_commit();
}

/// One group of a stage after another. @param zeros of each group @param look_ahead called while the last
/// products are under way
template <Config config, int groups, int group, class LookAhead, class Finish>
QUARRY_DEVICE void multiply_groups(Sums<config>& sums, LaneWeights<config>& weights,
                                   const RowZeros<config> (&zeros)[groups],
                                   const WeightColumns<config>& columns, const LookAhead& look_ahead,
                                   const Finish& finish) {
  constexpr int steps = stage_steps<config>() / groups;
  multiply_weights<config, group * steps, (group + 1) * steps>(sums, weights, zeros[group].points(), columns);
  if constexpr (group + 1 == groups) look_ahead();
  if constexpr (!multiplies_by_warps(config)) {
    arch::warpgroup_wait<0>();
    hold<config>(sums);
  }
  finish(group);
  if constexpr (group + 1 < groups) {
    multiply_groups<config, groups, group + 1>(sums, weights, zeros, columns, look_ahead, finish);
  }
}

/// Sums up the products of a work's stages. @tparam groups of a stage that may have scales of their own
/// @tparam one_by_one each has @tparam by_column the other operand has scales, too
template <Config config, int groups, bool one_by_one, bool by_column, class Work, class Params>
QUARRY_DEVICE void weight_mainloop_of(FinishedSums<config>& finished, Pipeline<config>& pipeline,
                                      const Work& work, int group, const ClusterPlace& place,
                                      const Params& params) {
  constexpr int group_k = config.tile.k / groups;
  constexpr int k_step = k_groups(config) * config.tile.k;  // from one of the own K tiles to the next
  const int row = group * instruction_m + warp_of_group() * 16 + arch::lane_index() / 4;
  const int base = work.a().row;
  int k = (work.first_k_tile + k_group<config>()) * config.tile.k;
  const int k_tiles = own_k_tiles<config>(work.k_tiles);
  WeightScales<config, one_by_one> row_scales(
      params.a, work.a().batch, base + work.tile_m * config.tile.m + row, base + work.m(), k, work.k());
  WeightZeros<config, one_by_one> row_zeros(params, work.a().batch, base + work.tile_m * config.tile.m + row,
                                            base + work.m(), k, work.k());
  arch::Vector<float, 2> next[groups];
  RowZeros<config> next_zeros[groups];
  const auto fetch = [&](int from) {
    QUARRY_UNROLL
    for (int i = 0; i < groups; ++i) {
      next[i] = row_scales.at(from + i * group_k);
      next_zeros[i] = row_zeros.at(from + i * group_k);
    }
    if (k_groups(config) > 1) {
      row_scales.skip((k_groups(config) - 1) * groups);
      row_zeros.skip((k_groups(config) - 1) * groups);
    }
  };
  LaneWeights<config> weights(row, config.tile.n <= 32 ? static_cast<unsigned>(work.k()) >> 31 : 0);
  WeightColumns<config> columns;
  const auto begin = [&] {
    pipeline.wait();
    weights.begin(pipeline.stage());
  };
  Sums<config> sums = {};
  hold<config>(sums);
  fetch(k);
  advance_to_own<config>(pipeline);
  if (k_tiles > 0) begin();
  QUARRY_ROLLED
  for (int tile = 0; tile < k_tiles; ++tile) {
    arch::Vector<float, 2> scales[groups];
    QUARRY_UNROLL
    for (int i = 0; i < groups; ++i) scales[i] = next[i];
    RowZeros<config> zeros[groups];
    QUARRY_UNROLL
    for (int i = 0; i < groups; ++i) zeros[i] = next_zeros[i];
    fetch(k + k_step);
    columns.begin(pipeline.stage() + box_a(config).bytes());
    const arch::SharedAddress empty = pipeline.empty();
    pipeline.template advance_by<k_groups(config)>();
    const auto look_ahead = [&] {
      if (tile + 1 < k_tiles) begin();
    };
    multiply_groups<config, groups, 0>(sums, weights, zeros, columns, look_ahead, [&](int i) {
      if (i == groups - 1) {
        arch::warp_barrier();  // all lanes have read their weights
        release<config>(empty, place);
      }
      if constexpr (by_column) scale_columns<config>(sums, params.b, work, k + i * group_k);
      promote_rows<config>(finished, sums, scales[i]);
    });
    k += k_step;
  }
}

/// The sums without the weights' unit as a factor.
template <Config config>
QUARRY_DEVICE void take_unit(FinishedSums<config>& finished) {
  constexpr float factor = 1 / LaneWeights<config>::unit;
  QUARRY_UNROLL
  for (int i = 0; i < config.tile.n / 2; ++i) finished.block[0].v[i] *= factor;
}

/// Sums up a work's products by the loop for the scales that there are. Those of the other operand are rare:
/// all groups serve them.
template <Config config, class Work, class Params>
QUARRY_DEVICE void weight_mainloop(FinishedSums<config>& finished, Pipeline<config>& pipeline,
                                   const Work& work, int group, const ClusterPlace& place,
                                   const Params& params) {
  constexpr int k = config.tile.k;
  const bool is_little =
      spans_little(params.a.values, work.a().row + work.m(), work.k() >> params.a.k_log2) &&
      zeros_span_little<config>(params, work);
  const int k_log2 = params.a.values.data == nullptr || !is_little ? 0 : params.a.k_log2;
  finished = {};
  if (params.b.values.data != nullptr) {
    weight_mainloop_of<config, k / 32, false, true>(finished, pipeline, work, group, place, params);
  } else if (k_log2 == 7) {
    weight_mainloop_of<config, k / 128, true, false>(finished, pipeline, work, group, place, params);
  } else if (k_log2 == 6) {
    weight_mainloop_of<config, k / 64, true, false>(finished, pipeline, work, group, place, params);
  } else {
    weight_mainloop_of<config, k / 32, false, false>(finished, pipeline, work, group, place, params);
  }
  take_unit<config>(finished);
}

}  // namespace quarry::gemm_sm90
