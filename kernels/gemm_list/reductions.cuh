/// The second step of an expression of a list that reduces rows, columns or all elements: which lines there
/// are, and which parts they have, follows from the sizes, as the first step reads them.
#pragma once

#include "common/wide_epilogue.cuh"
#include "gemm_list/pairs.cuh"
#include "gemm_list/schedule.cuh"

namespace quarry {

/// What a tile leaves.
struct ListPieces {
  Tile tile;         ///< of a block, or of a cluster
  int row_parts;     ///< of each row
  int column_rows;   ///< rows that a part of columns is of, or several parts
  int column_parts;  ///< of so many rows
  int block_rows;    ///< of a cluster
  int all_parts;     ///< of all, of a row of blocks
};

/// The lines of a list, by its bounds; see reductions::FinishStep. Each thread makes one for its own line.
/// @tparam unit what N counts in
template <class Code, ListPieces pieces, int unit>
struct ListLines : reductions::EvenParts {
  const ExpressionParams& expression;
  const GemmParams& gemm;
  const ListParams& list;
  int n;
  /// Of the thread's line: its problem, and which of the problem's lines.
  int problem = 0;
  int place = 0;

  /// @param own number of the thread in the grid, and of its line
  QUARRY_DEVICE ListLines(const ExpressionParams& tensors, const ReductionParams& reductions,
                          const GemmParams& p, const ListParams& l, long long own)
      : expression(tensors), gemm(p), list(l), n(Code::is_gated ? p.n / 2 : p.n) {
    using Values = typename Code::Values;
    partials = static_cast<const char*>(reductions.partials);
    rows = Values::row_count > 0 ? static_cast<long long>(p.batch) * p.m : 0;
    columns = Values::column_count > 0 ? static_cast<long long>(p.batch) * n : 0;
    row_parts = reductions.row_parts;
    column_parts = reductions.column_parts;
    all_parts = reductions.all_parts;
    columns_at = reductions.columns_at;
    all_at = reductions.all_at;
    if (own >= rows + columns) return;
    const long long line = own < rows ? own : own - rows;
    const int each = own < rows ? p.m : n;
    problem = static_cast<int>(line / each);
    place = static_cast<int>(line - static_cast<long long>(problem) * each);
  }

  QUARRY_DEVICE reductions::LineParts parts_of_row(long long line) const {
    const ListExtents own = extents_of(problem);
    return {line, rows, static_cast<long long>(parts(own.n, pieces.tile.n)) * pieces.row_parts,
            place < own.m};
  }
  QUARRY_DEVICE reductions::LineParts parts_of_column(long long /*line*/) const {
    const ListExtents own = extents_of(problem);
    constexpr int tile_parts = pieces.tile.m / pieces.column_rows * pieces.column_parts;
    const long long first = static_cast<long long>(problem) * gemm.tiles_m * tile_parts;
    return {columns_at + first * n + place, n,
            static_cast<long long>(parts(own.m, pieces.column_rows)) * pieces.column_parts,
            place < output_extents<Code::is_gated>(own).n};
  }
  QUARRY_DEVICE long long column_stride() const { return column_parts * n; }

  /// Problem by problem, and row by row of blocks. The sizes of 32 are read at once, as each read is waited
  /// for.
  template <class Add>
  QUARRY_DEVICE void each_part_of_all(const Add& add) const {
    const long long row_slots = static_cast<long long>(gemm.tiles_n) * pieces.all_parts;
    QUARRY_ROLLED
    for (int first = 0; first < gemm.batch; first += 32) {
      const int lanes_own = first + arch::lane_index();
      const ListExtents own = lanes_own < gemm.batch ? extents_of(lanes_own) : ListExtents{};
      QUARRY_ROLLED
      for (int i = 0; i < 32 && first + i < gemm.batch; ++i) {
        const int block_rows = parts(arch::shuffle(own.m, i), pieces.tile.m) * pieces.block_rows;
        const int count = parts(arch::shuffle(own.n, i), pieces.tile.n) * pieces.all_parts;
        const long long begin = static_cast<long long>(first + i) * gemm.tiles_m * pieces.block_rows;
        for (int row = 0; row < block_rows; ++row) {
          for (int part = arch::lane_index(); part < count; part += 32)
            add(all_at + (begin + row) * row_slots + part);
        }
      }
    }
  }

  QUARRY_DEVICE MatrixLane row_lane(long long /*line*/) const { return {expression, problem, place, 0}; }
  QUARRY_DEVICE MatrixLane column_lane(long long /*line*/) const { return {expression, problem, 0, place}; }
  QUARRY_DEVICE MatrixLane all_lane() const { return {expression, 0, 0, 0}; }

 private:
  QUARRY_DEVICE static int parts(int extent, int size) { return extent / size + (extent % size != 0); }

  QUARRY_DEVICE ListExtents extents_of(int number) const {
    const int* const row = list.sizes + static_cast<long long>(number) * list_extents;
    const ListExtents given = {arch::global_load<int>(row), arch::global_load<int>(row + 1), 0};
    return in_units(clamped_extents(gemm, given), unit);
  }
};

/// Runs the second step. @tparam pieces of the kernel @tparam unit what N counts in
template <class Code, ListPieces pieces, int unit, class Params>
QUARRY_DEVICE void finish_list(const WithReductions<Params>& params, const GemmParams& gemm,
                               int block_threads) {
  using Values = typename Code::Values;
  if constexpr (Values::row_count + Values::column_count + Values::all_count > 0) {
    using Problem = ListLines<Code, pieces, unit>;
    const long long own = static_cast<long long>(arch::block_index()) * block_threads + arch::thread_index();
    reductions::FinishStep<Code, Problem>(
        Problem(params.expression, params.reductions, gemm, params.list, own))
        .run(block_threads);
  }
}

}  // namespace quarry
