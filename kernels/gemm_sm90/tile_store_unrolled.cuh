/// The ways of TileStore that are unrolled, as they are the most common ones.
#pragma once

#include "gemm_sm90/tile_store.cuh"

namespace quarry::gemm_sm90 {

/// The short way. @tparam by_column columns have an addend each; else rows may
template <Config config, class Work>
template <bool by_column>
QUARRY_DEVICE void TileStore<config, Work>::store_short(const FinishedSums<config>& sums, const Work& work,
                                                        int lane) {
  QUARRY_UNROLL
  for (int block = 0; block < blocks_m(config); ++block) {
    const arch::Vector<Value, 2> rows =
        by_column ? arch::Vector<Value, 2>{}
                  : biases_.of_rows(added(), first_row() + block * instruction_m, lane);
    QUARRY_UNROLL
    for (int i = 0; i < block_boxes; ++i) {
      const arch::SharedAddress buffer = ring_.acquire();
      QUARRY_UNROLL
      for (int column = 0; column < box.columns; column += 16) {
        const int first = i * box.columns + column;
        if (column + 8 < box.columns) {
          StepValues<8, Value> x = by_column ? biases_.template of_columns<8>(first, lane)
                                             : broadcast_rows<8>(rows.v[0], rows.v[1]);
          add_products<config>(x, alpha_, sums, block, first);
          put_values<box, Out>(buffer, column, lane, x);
        } else {
          StepValues<4, Value> x = by_column ? biases_.template of_columns<4>(first, lane)
                                             : broadcast_rows<4>(rows.v[0], rows.v[1]);
          add_products<config>(x, alpha_, sums, block, first);
          put_values<box, Out>(buffer, column, lane, x);
        }
      }
      leave_box(work, block * block_boxes + i, buffer, lane);
    }
  }
}

/// The short way of a tile behind whose rows others follow within boxes: each lane writes the pairs of values
/// that it holds, as far as their rows exist.
template <Config config, class Work>
template <bool by_column>
QUARRY_DEVICE void TileStore<config, Work>::store_pairs(const FinishedSums<config>& sums, const Work& work,
                                                        int lane) const {
  const MatrixParams& out = params().gemm.out;
  const OperandBase base = work.out();
  Out* const first = static_cast<Out*>(const_cast<void*>(out.data)) + base.batch * out.batch_stride;
  const int first_column = work.tile_n * config.tile.n + lane % 4 * 2;
  const int columns = work.n() - first_column;
  QUARRY_UNROLL
  for (int block = 0; block < blocks_m(config); ++block) {
    const int row = tile_row(work) + block * instruction_m + lane / 4;
    const arch::Vector<Value, 2> rows =
        by_column ? arch::Vector<Value, 2>{}
                  : biases_.of_rows(added(), first_row() + block * instruction_m, lane);
    Out* const line = first + ((base.row + row) * out.row_stride + base.column + first_column);
    QUARRY_UNROLL
    for (int column = 0; column < config.tile.n; column += 8) {
      StepValues<4, Value> x =
          by_column ? biases_.template of_columns<4>(column, lane) : broadcast_rows<4>(rows.v[0], rows.v[1]);
      add_products<config>(x, alpha_, sums, block, column);
      QUARRY_UNROLL
      for (int half = 0; half < 2; ++half) {
        if (row + 8 * half < work.m() && column < columns)
          write_pair(line + (8 * half * out.row_stride + column), x.v[2 * half], x.v[2 * half + 1]);
      }
    }
  }
}

/// C or a residual alone, unrolled.
template <Config config, class Work>
QUARRY_DEVICE void TileStore<config, Work>::store_fetched(const FinishedSums<config>& sums, const Work& work,
                                                          SourceStages<config>& source, int lane) {
  const Value factor = fetched_factor();
  QUARRY_UNROLL
  for (int index = 0; index < boxes; ++index) {
    const arch::SharedAddress buffer = ring_.acquire();
    StepValues<box.columns / 2, Value> x = {};
    add_values<box, Out>(x, factor, wait_for_source(source, index, buffer), 0, lane);
    arch::warp_barrier();  // all lanes have read them
    add_products<config>(x, alpha_, sums, index / block_boxes, index % block_boxes * box.columns);
    source_is_read(source, work, index);
    put_values<box, Out>(buffer, 0, lane, x);
    leave_box(work, index, buffer, lane);
  }
}

/// What stores the tiles of a kernel with this epilogue.
template <Config config, class Epilogue, class Work>
struct TileStoreOf {
  using Type = PairStore<config, Epilogue, Work>;
};
template <Config config, class Work>
struct TileStoreOf<config, StandardChain, Work> {
  using Type = TileStore<config, Work>;
};

}  // namespace quarry::gemm_sm90
