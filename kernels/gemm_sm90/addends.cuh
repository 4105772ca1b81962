/// What is added to the sums of a tile: the addends of its rows or columns, from shared memory.
#pragma once

#include "gemm_sm90/bias.cuh"
#include "gemm_sm90/step.cuh"

namespace quarry::gemm_sm90 {

/// What is added to the sums.
enum class Added { nothing, by_row, by_column };

/// What launches of these parameters add.
QUARRY_DEVICE Added added_by(const GemmParams& params) {
  if (!adds_bias(params)) return Added::nothing;
  return params.epilogue.bias_axis == BiasAxis::column ? Added::by_column : Added::by_row;
}

/// The ring of addends, read by the lanes that hold the sums.
template <Config config>
class Addends : public BiasRing<config> {
  using Value = ValueType<config>;

 public:
  QUARRY_DEVICE explicit Addends(arch::SharedAddress memory) : BiasRing<config>(memory) {}

  /// Of a step. @param row first of the warp's 16 in the tile, and first column
  template <int n>
  QUARRY_DEVICE StepValues<n, Value> of_step(Added added, int row, int column, int lane) const {
    if (added == Added::by_column) return of_columns<n>(column, lane);
    const arch::Vector<Value, 2> rows = of_rows(added, row, lane);
    return broadcast_rows<n>(rows.v[0], rows.v[1]);
  }

  /// Of the columns from `first` of the tile on.
  template <int n>
  QUARRY_DEVICE StepValues<n, Value> of_columns(int first, int lane) const {
    StepValues<n, Value> x;
    QUARRY_UNROLL
    for (int group = 0; group < n / 4; ++group) {
      const auto pair = arch::shared_load<arch::Vector<Value, 2>>(this->at(first + 8 * group + lane % 4 * 2));
      QUARRY_UNROLL
      for (int i = 0; i < 4; ++i) x.v[4 * group + i] = pair.v[i % 2];
    }
    return x;
  }

  /// Of the lane's two rows of the 16 from `first` of the tile on.
  QUARRY_DEVICE arch::Vector<Value, 2> of_rows(Added added, int first, int lane) const {
    if (added != Added::by_row) return {0, 0};
    return {arch::shared_load<Value>(this->at(first + lane / 4)),
            arch::shared_load<Value>(this->at(first + lane / 4 + 8))};
  }
};

}  // namespace quarry::gemm_sm90
