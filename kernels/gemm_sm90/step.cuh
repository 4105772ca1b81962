/// A step of the epilogue: some columns of a warp's 16 rows, whose values a thread holds in registers, and
/// what it reads and writes for them beside the sums. An epilogue is written in these terms: it takes the
/// values of a step, and makes others of them.
#pragma once

#include "common/matrix_params.hpp"
#include "common/tile_scheduler.cuh"
#include "gemm_sm90/box_lanes.cuh"
#include "gemm_sm90/box_values.cuh"
#include "gemm_sm90/sums.cuh"
#include "gemm_sm90/work_matrices.cuh"

namespace quarry::gemm_sm90 {

/// The values of a step whose columns are all alike: one value for the upper of the lane's two rows, one for
/// the lower.
template <int count, class Value>
QUARRY_DEVICE StepValues<count, Value> broadcast_rows(Value upper, Value lower) {
  StepValues<count, Value> x;
  QUARRY_UNROLL
  for (int i = 0; i < count; ++i) x.v[i] = i / 2 % 2 == 0 ? upper : lower;
  return x;
}

/// A step. Where it lies in the output is computed when it is asked: most epilogues read and write nothing by
/// it.
template <Config config, class Work>
class EpilogueStep {
  static constexpr int count = step_values(config);
  static constexpr BoxPart part = {box_out(config), step_columns(config)};
  using Out = Element<config.types.out>;

 public:
  using Value = ValueType<config>;
  using Values = StepValues<count, Value>;

  const Work& work;
  arch::SharedAddress buffer;  ///< the box that the step is of
  int box_column;              ///< where it begins in the box
  int tile_row;                ///< its first row in the tile, and its first column
  int tile_column;
  int lane;

  /// Reads a matrix of the output's type and size into the box, by the lanes of the warp. What lies outside
  /// becomes 0.
  QUARRY_DEVICE void read(const MatrixParams& matrix) const {
    arch::warp_barrier();
    move_part<part, false>(buffer, box_column, place(matrix));
    arch::warp_barrier();
  }

  /// The residual or aux of the step's problem. @param matrix the launch's
  QUARRY_DEVICE decltype(auto) beside(const MatrixParams& matrix) const {
    return MatricesOf<Work>::beside(matrix, work);
  }

  /// x + factor * values that lie in the box. All lanes have read them before any goes on.
  QUARRY_DEVICE void add(Values& x, Value factor) const {
    add_values<part.box, Out>(x, factor, buffer, box_column, lane);
    arch::warp_barrier();
  }

  /// Rounds values and puts them into the box.
  QUARRY_DEVICE void put(const Values& x) const { put_values<part.box, Out>(buffer, box_column, lane, x); }

  /// Writes what lies in the box to a matrix, by the lanes of the warp.
  QUARRY_DEVICE void write(const MatrixParams& matrix) const {
    arch::warp_barrier();
    move_part<part, true>(buffer, box_column, place(matrix));
    arch::warp_barrier();
  }

  /// The same of the whole box, in accesses of 16 bytes. In place: around a call, the sums would go to
  /// memory.
  /// @pre the step is its first one, and all lines of the matrix allow that
  QUARRY_DEVICE void write_box(const MatrixParams& matrix) const {
    constexpr BoxPart whole = {part.box, part.box.columns};
    arch::warp_barrier();
    move_accesses<whole, 16, true>(buffer, 0, place(matrix));
    arch::warp_barrier();
  }

  /// x times a matrix of f32 whose rows, or columns, are all the same.
  QUARRY_DEVICE void scale(Values& x, const MatrixParams& matrix) const {
    const auto* const first = static_cast<const float*>(matrix.data) + work.out().batch * matrix.batch_stride;
    const int lane_row = lane / 4;
    const int lane_column = lane % 4 * 2;
    const bool by_rows = matrix.column_stride == 0;
    const long long stride = by_rows ? matrix.row_stride : matrix.column_stride;
    const float* const own = first + (by_rows ? row() + lane_row : column() + lane_column) * stride;
    const int left = by_rows ? rows() - lane_row : columns() - lane_column;
    const auto at = [&](int i) { return i < left ? arch::global_load<float>(own + i * stride) : 0; };
    const float upper = by_rows ? at(0) : 0;
    const float lower = by_rows ? at(8) : 0;
    QUARRY_UNROLL
    for (int i = 0; i < count; ++i) {
      x.v[i] *= by_rows ? (i / 2 % 2 == 0 ? upper : lower) : at(i / 4 * 8 + i % 2);
    }
  }

  /// Writes sums as they are to a dense matrix, line after line of so many elements as the output's are. Four
  /// lanes write 32 bytes of a row at a time, or eight of a column: a sector of memory as a whole.
  template <class Sum>
  QUARRY_DEVICE void write_dense(Sum* matrix, int line_elements, const StepValues<count, Sum>& x) const {
    constexpr bool by_rows = part.box.row_major;
    const int lane_row = lane / 4;
    const int lane_column = lane % 4 * 2;
    const long long row_stride = by_rows ? line_elements : 1;
    const long long column_stride = by_rows ? 1 : line_elements;
    Sum* const first = matrix + ((work.tile_m * config.tile.m + tile_row + lane_row) * row_stride +
                                 (work.tile_n * config.tile.n + tile_column + lane_column) * column_stride);
    const int lane_rows = rows() - lane_row;
    const int lane_columns = columns() - lane_column;
    const bool in_pairs = line_elements % 2 == 0;
    QUARRY_UNROLL
    for (int group = 0; group < count / 4; ++group) {
      if constexpr (by_rows) {
        QUARRY_UNROLL
        for (int half = 0; half < 2; ++half) {
          const int left = 8 * half < lane_rows ? lane_columns - 8 * group : 0;
          write_pair(first + 8 * half * row_stride + 8 * group, in_pairs, left, &x.v[4 * group + 2 * half]);
        }
      } else {
        QUARRY_UNROLL
        for (int i = 0; i < 4; ++i) {
          const int at_row = i / 2 * 8;
          const int at_column = 8 * group + i % 2;
          if (at_row < lane_rows && at_column < lane_columns) {
            arch::global_store(first + (at_row * row_stride + at_column * column_stride), x.v[4 * group + i]);
          }
        }
      }
    }
  }

 private:
  /// Writes the first `left` of two neighbours. @param at_once in one access, if both exist
  template <class Sum>
  QUARRY_DEVICE static void write_pair(Sum* to, bool at_once, int left, const Sum* pair) {
    if (at_once && left > 1) {
      arch::global_store(to, arch::Vector<Sum, 2>{pair[0], pair[1]});
      return;
    }
    if (left > 0) arch::global_store(to, pair[0]);
    if (left > 1) arch::global_store(to + 1, pair[1]);
  }

  /// Its first row and column in the output, and how many exist from there on.
  QUARRY_DEVICE int row() const { return work.out().row + work.tile_m * config.tile.m + tile_row; }
  QUARRY_DEVICE int column() const { return work.out().column + work.tile_n * config.tile.n + tile_column; }
  QUARRY_DEVICE int rows() const { return work.m() - work.tile_m * config.tile.m - tile_row; }
  QUARRY_DEVICE int columns() const { return work.n() - work.tile_n * config.tile.n - tile_column; }

  /// Of the step's part in a matrix of the output's type.
  QUARRY_DEVICE auto place(const MatrixParams& matrix) const {
    if constexpr (has_scattered_rows<Work>) {
      static_assert(part.box.row_major);
      return scattered_place<sizeof(Out)>(work, matrix, row(), rows(), column(), columns());
    } else {
      return matrix_place(matrix);
    }
  }

  QUARRY_DEVICE PartPlace matrix_place(const MatrixParams& matrix) const {
    constexpr int bytes = sizeof(Out);
    constexpr bool by_rows = part.box.row_major;
    const long long offset =
        work.out().batch * matrix.batch_stride + row() * matrix.row_stride + column() * matrix.column_stride;
    return {static_cast<char*>(const_cast<void*>(matrix.data)) + offset * bytes,
            (by_rows ? matrix.row_stride : matrix.column_stride) * bytes,
            (by_rows ? matrix.column_stride : matrix.row_stride) * bytes, by_rows ? rows() : columns(),
            by_rows ? columns() : rows()};
  }
};

/// Writes what lies in a box to a matrix, by the lanes of the warp. @param tile_row where the box begins in
/// the tile
template <Config config, class Work>
QUARRY_DEVICE void write_box(arch::SharedAddress buffer, const Work& work, int tile_row, int tile_column,
                             const MatrixParams& matrix) {
  QUARRY_ROLLED
  for (int first = 0; first < box_out(config).columns; first += step_columns(config)) {
    const EpilogueStep<config, Work> step = {
        work, buffer, first, tile_row, tile_column + first, arch::lane_index()};
    step.write(matrix);
  }
}

}  // namespace quarry::gemm_sm90
