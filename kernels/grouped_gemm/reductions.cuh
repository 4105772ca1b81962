/// The second step of an expression of groups that reduces rows, columns or all elements: which lines there
/// are, and which parts they have, follows from the sizes, which are read by the rules that the first step
/// reads them by.
#pragma once

#include "common/wide_epilogue.cuh"
#include "grouped_gemm/params.hpp"

namespace quarry {

/// What the tiles of a kernel leave of columns, and of all: so many parts for each piece of so many rows of a
/// group. Of all, for each column of tiles.
struct GroupPieces {
  int column_rows;
  int column_parts;
  int all_rows;
  int all_parts;
};

/// Where the first `count` groups end that follow one another. All lanes of a warp call it together: what
/// some groups leave is again a size, so that a warp adds up 32 at a time.
QUARRY_DEVICE int end_of_groups(const GroupParams& p, int count) {
  int end = 0;
  QUARRY_ROLLED
  for (int group = arch::lane_index(); group < count; group += 32)
    end = clamped_end(p, arch::global_load<int>(p.sizes + group), end);
  QUARRY_UNROLL
  for (int mask = 1; mask < 32; mask *= 2)
    end = clamped_end(p, arch::shuffle(end, arch::lane_index() ^ mask), end);
  return end;
}

/// The lines of groups; see reductions::FinishStep. All threads of a block make one together, each for its
/// own line.
template <class Code, GroupPieces pieces>
struct GroupLines : reductions::EvenParts {
  const ExpressionParams& expression;
  const GemmParams& gemm;
  const GroupParams& groups;
  int n;
  /// Of the thread's line: its entry of the output, or its group where it is a column; and which of its
  /// lines.
  int entry = 0;
  int place = 0;
  /// Of contiguous groups: the rows that some group has, and the group of the warp's first column and where
  /// that begins.
  int end = 0;
  int known_group = 0;
  int known_begin = 0;

  /// @param own number of the thread in the grid, and of its line
  QUARRY_DEVICE GroupLines(const ExpressionParams& tensors, const ReductionParams& reductions,
                           const GemmParams& p, const GroupParams& g, long long own)
      : expression(tensors), gemm(p), groups(g), n(Code::is_gated ? p.n / 2 : p.n) {
    using Values = typename Code::Values;
    partials = static_cast<const char*>(reductions.partials);
    rows = Values::row_count > 0 ? static_cast<long long>(p.batch) * p.m : 0;
    columns = Values::column_count > 0 ? static_cast<long long>(g.groups) * n : 0;
    row_parts = reductions.row_parts;
    column_parts = reductions.column_parts;
    all_parts = reductions.all_parts;
    columns_at = reductions.columns_at;
    all_at = reductions.all_at;
    find_place(own);
    if (groups.form == GroupForm::contiguous) find_ends(own - arch::lane_index());
  }

  QUARRY_DEVICE reductions::LineParts parts_of_row(long long line) const {
    return {line, rows, row_parts, has_row()};
  }
  QUARRY_DEVICE reductions::LineParts parts_of_column(long long /*line*/) const {
    const GroupSpan span = column_span();
    const long long first = first_piece(span, pieces.column_rows) * pieces.column_parts;
    return {columns_at + first * n + place, n, pieces_of(span, pieces.column_rows) * pieces.column_parts};
  }
  QUARRY_DEVICE long long column_stride() const { return column_parts * n; }

  /// Group by group. The sizes of 32 are read at once, as each read is waited for.
  template <class Add>
  QUARRY_DEVICE void each_part_of_all(const Add& add) const {
    const long long piece_parts = static_cast<long long>(gemm.tiles_n) * pieces.all_parts;
    int begin = 0;
    QUARRY_ROLLED
    for (int first = 0; first < groups.groups; first += 32) {
      const int lanes_group = first + arch::lane_index();
      const int own = lanes_group < groups.groups ? size_of(lanes_group) : 0;
      QUARRY_ROLLED
      for (int i = 0; i < 32 && first + i < groups.groups; ++i) {
        const GroupSpan span = group_span(groups, first + i, arch::shuffle(own, i), begin);
        begin = span.first + span.count;
        const long long slot = all_at + first_piece(span, pieces.all_rows) * piece_parts;
        const long long count = pieces_of(span, pieces.all_rows) * piece_parts;
        for (long long part = arch::lane_index(); part < count; part += 32) add(slot + part);
      }
    }
  }

  QUARRY_DEVICE MatrixLane row_lane(long long /*line*/) const { return {expression, entry, place, 0}; }
  QUARRY_DEVICE MatrixLane column_lane(long long /*line*/) const { return {expression, entry, 0, place}; }
  QUARRY_DEVICE MatrixLane all_lane() const { return {expression, 0, 0, 0}; }

 private:
  QUARRY_DEVICE int size_of(int group) const { return arch::global_load<int>(groups.sizes + group); }

  QUARRY_DEVICE void find_place(long long own) {
    if (own >= rows + columns) return;
    const long long line = own < rows ? own : own - rows;
    const int each = own < rows ? gemm.m : n;
    entry = static_cast<int>(line / each);
    place = static_cast<int>(line - static_cast<long long>(entry) * each);
  }

  /// @param first line of the warp
  QUARRY_DEVICE void find_ends(long long first) {
    if (first < rows) end = end_of_groups(groups, groups.groups);
    if (columns == 0 || first >= rows + columns) return;
    if (first >= rows) known_group = arch::shuffle(entry, 0);
    known_begin = end_of_groups(groups, known_group);
  }

  QUARRY_DEVICE bool has_row() const {
    if (groups.form == GroupForm::ragged_k) return true;
    return place < (groups.form == GroupForm::masked ? clamped_end(groups, size_of(entry), 0) : end);
  }

  /// The rows of the column's group, which is not before the known one.
  QUARRY_DEVICE GroupSpan column_span() const {
    int begin = known_begin;
    if (groups.form == GroupForm::contiguous) {
      QUARRY_ROLLED
      for (int group = known_group; group < entry; ++group)
        begin = clamped_end(groups, size_of(group), begin);
    }
    return group_span(groups, entry, size_of(entry), begin);
  }

  /// The first piece of a group, as pieces_before has it, and how many it has.
  QUARRY_DEVICE long long first_piece(const GroupSpan& span, int piece_rows) const {
    if (groups.form == GroupForm::contiguous) return span.first / piece_rows + span.group;
    const int tile_pieces = pieces.all_rows / piece_rows;
    return static_cast<long long>(span.group) * gemm.tiles_m * tile_pieces;
  }
  QUARRY_DEVICE long long pieces_of(const GroupSpan& span, int piece_rows) const {
    const int count = groups.form == GroupForm::ragged_k ? gemm.m : span.count;
    return count / piece_rows + (count % piece_rows != 0);
  }
};

/// Runs the second step. @tparam pieces of the kernel
template <class Code, GroupPieces pieces, class Params>
QUARRY_DEVICE void finish_groups(const WithReductions<Params>& params, const GemmParams& gemm,
                                 int block_threads) {
  using Values = typename Code::Values;
  if constexpr (Values::row_count + Values::column_count + Values::all_count > 0) {
    using Problem = GroupLines<Code, pieces>;
    const long long own = static_cast<long long>(arch::block_index()) * block_threads + arch::thread_index();
    reductions::FinishStep<Code, Problem>(
        Problem(params.expression, params.reductions, gemm, params.groups, own))
        .run(block_threads);
  }
}

}  // namespace quarry
