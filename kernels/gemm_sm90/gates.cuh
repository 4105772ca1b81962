/// Gates of a tile whose sums leave few registers: unrolled, and in place of the sums.
#pragma once

#include "common/activation.cuh"
#include "gemm_sm90/addends.cuh"
#include "gemm_sm90/step_sums.cuh"

namespace quarry::gemm_sm90 {

/// Half of the values of a warp's 16 rows: gates take these.
template <Config config>
using Halves = StepValues<config.tile.n / 2, ValueType<config>>;

/// What a warp's gates are made of beside its sums.
template <class Value>
struct GateWork {
  Added added;
  Value alpha;
  Activation activation;
  int first_row;  ///< of the warp in its tile
  int lane;
};

/// Half of alpha times the sums and a bias. @tparam by_column columns have an addend each; else rows may
template <Config config, bool by_column>
QUARRY_DEVICE void halve(Halves<config> (&halves)[blocks_m(config)], const FinishedSums<config>& sums,
                         const Addends<config>& biases, const GateWork<ValueType<config>>& gate) {
  using Value = ValueType<config>;
  const auto half = [](Value v) { return 0.5F * v; };
  arch::Vector<Value, 2> rows[blocks_m(config)];
  QUARRY_UNROLL
  for (int block = 0; block < blocks_m(config); ++block) {
    rows[block] = by_column ? arch::Vector<Value, 2>{}
                            : biases.of_rows(gate.added, gate.first_row + block * instruction_m, gate.lane);
    replace_each(rows[block].v, half);
  }
  QUARRY_UNROLL
  for (int column = 0; column < config.tile.n; column += 8) {
    StepValues<4, Value> columns = {};
    if constexpr (by_column) columns = biases.template of_columns<4>(column, gate.lane);
    replace_each(columns.v, half);
    QUARRY_UNROLL
    for (int block = 0; block < blocks_m(config); ++block) {
      StepValues<4, Value> x = by_column ? columns : broadcast_rows<4>(rows[block].v[0], rows[block].v[1]);
      add_products<config>(x, half(gate.alpha), sums, block, column);
      QUARRY_UNROLL
      for (int i = 0; i < 4; ++i) halves[block].v[column / 2 + i] = x.v[i];
    }
  }
}

/// Stores the gates of a tile. `acquire()` gives the buffer of the next box, `leave(index, buffer)` hands it
/// over.
template <Config config, class Acquire, class Leave>
QUARRY_DEVICE void store_gates(const FinishedSums<config>& sums, const Addends<config>& biases,
                               const GateWork<ValueType<config>>& gate, const Acquire& acquire,
                               const Leave& leave) {
  constexpr OutputBox box = box_out(config);
  constexpr int block_boxes = config.tile.n / box.columns;
  Halves<config> halves[blocks_m(config)];
  if (gate.added == Added::by_column) {
    halve<config, true>(halves, sums, biases, gate);
  } else {
    halve<config, false>(halves, sums, biases, gate);
  }
  const arch::Vector<float, 2> slope = slope_of_halves(gate.activation);
  QUARRY_UNROLL
  for (int block = 0; block < blocks_m(config); ++block) {
    QUARRY_UNROLL
    for (int i = 0; i < block_boxes; ++i) {
      const arch::SharedAddress buffer = acquire();
      StepValues<box.columns / 2, ValueType<config>> x;
      QUARRY_UNROLL
      for (int j = 0; j < box.columns / 2; ++j) x.v[j] = halves[block].v[i * (box.columns / 2) + j];
      gate_doubles(x.v, slope);
      put_values<box, Element<config.types.out>>(buffer, 0, gate.lane, x);
      leave(block * block_boxes + i, buffer);
    }
  }
}

}  // namespace quarry::gemm_sm90
