"""In how expressions of a GEMM's sums are computed, and what they reduce."""

from mutation.kernels import SIMT, SM80_PATHS, SM90_PATHS, STREAM_PATHS, WIDE_SM80, WIDE_SM90
from mutation.planted.lines import ALL_IS_THE_FIRST_PART, COLUMN_IS_ITS_FIRST_PART, ROW_IS_ITS_FIRST_PART
from mutation.planted.mistake import Planted, on_paths

EXPRESSION = "kernels/common/expression_epilogue.cuh"
EXPRESSION_STORE = "kernels/gemm_sm90/expression.cuh"
WIDE = "kernels/common/wide_epilogue.cuh"
WIDE_STORE = "kernels/gemm_sm90/wide_store.cuh"
STAGED_TILE = "kernels/common/staged_tile.cuh"
EXPRESSION_SUMS = "kernels/gemm_sm90/expression_sums.cuh"

TILES = SM80_PATHS + SIMT
LINES = ("reductions", "gated_reductions", "eights_reductions")
EIGHTS = ("eights", "eights_reductions")
# Of B that threads copy, too.
WIDE_EIGHTS_SM90 = WIDE_SM90

PLANTED = [
    # Expressions.
    Planted("expression", "all neighbours have the sum of the first", TILES + STREAM_PATHS + SM90_PATHS,
            [(EXPRESSION, "return sums.v[index];", "return sums.v[0];")]),
    Planted("expression", "a box is not handed to the copy engine, nor written by lanes", SM90_PATHS,
            [(EXPRESSION_STORE, "        leave_box(work, index);\n", "        ring_.advance();\n"),
             (EXPRESSION_STORE, "write_box<config>(buffer, work, row, column, params_.gemm.out);", "(void)row, (void)column;")]),
    Planted("expression_parallel", "all neighbours have the sum of the first", TILES + SM90_PATHS,
            [(EXPRESSION, "return sums.v[index];", "return sums.v[0];")]),
    Planted("expression_parallel", "the expression reads the sums of the last slice", TILES + SM90_PATHS,
            [("kernels/reduce_split_k/kernel.cuh", "sum.v[i] = added(sum.v[i], next.v[i]);", "sum.v[i] = next.v[i];")]),
    # Rows of tables.
    Planted("gathered", "an index below the first row is not noticed", TILES + STREAM_PATHS + SM90_PATHS,
            [(EXPRESSION, "return index >= 0 && index < rows.count;", "return index < rows.count;")]),
    Planted("gathered", "an index behind the last row is not noticed", TILES + STREAM_PATHS + SM90_PATHS,
            [(EXPRESSION, "return index >= 0 && index < rows.count;", "return index >= 0 && index <= rows.count;")]),
    Planted("gathered", "all rows are the first one", TILES + STREAM_PATHS + SM90_PATHS,
            [(EXPRESSION, "line<const T, count>(params.matrix, index.v[0], column, left)", "line<const T, count>(params.matrix, 0, column, left)"),
             (EXPRESSION, "line<const T, 1>(params.matrix, row, index.v[i], 1)", "line<const T, 1>(params.matrix, row, 0, 1)")]),
    # Gated pairs.
    *on_paths(("gated", "gated_reductions"), "a gate is its own partner", WIDE_SM80 + WIDE_SM90, [(WIDE, "return partners.v[this->index];", "return this->sum();")]),
    *on_paths(("gated", "gated_reductions"), "partners lie in the first half, too", WIDE_SM90,
              [(WIDE_STORE, "take_sums<config, tile_columns, tile_columns, 0,", "take_sums<config, tile_columns, 0, 0,")]),
    *on_paths(EIGHTS, "a gate is its own partner", WIDE_SM80 + WIDE_EIGHTS_SM90, [(WIDE, "return partners.v[this->index];", "return this->sum();")]),
    *on_paths(EIGHTS, "partners lie half a tile further on", WIDE_SM80, [(STAGED_TILE, "gate + (turned ? 8 : 0)", "gate + (turned ? columns : 0)"), (STAGED_TILE, "gate + (turned ? 0 : 8)", "gate + (turned ? 0 : columns)")]),
    *on_paths(EIGHTS, "gates are neighbours beyond eight", WIDE_SM80, [(STAGED_TILE, "gate = column / 8 * 16 + column % 8;", "gate = column;")]),
    *on_paths(EIGHTS, "gates and partners are exchanged", WIDE_EIGHTS_SM90,
              [(EXPRESSION_SUMS, "2 * (first + group) + partner", "2 * (first + group) + 1 - partner")]),
    # What lanes and warps reduce of a tile.
    *on_paths(LINES, "a lane's part of a row is taken for the warp's", WIDE_SM80,
              [(WIDE, "Values::each_row(total, total, reductions::CombineLane{arch::lane_index() ^ mask});", "(void)mask;")]),
    *on_paths(LINES, "elements do not join their columns", WIDE_SM80,
            [(WIDE, "    Values::each_column(of_column, lines, reductions::Combine());\n", "    (void)of_column;\n")]),
    *on_paths(LINES, "a lane's part of all is taken for the warp's", WIDE_SM80,
              [(WIDE, "Values::each_all(reduced.all, reduced.all, reductions::CombineLane{arch::lane_index() ^ mask});", "(void)mask;")]),
    Planted("groups", "a lane's part of a group is taken for all", WIDE_SM80,
            [(WIDE, "Values::each_group(groups, groups, reductions::CombineLane{arch::lane_index() ^ mask});", "(void)mask;")]),
    # The same of gemm_sm90.
    *on_paths(LINES, "a lane's part of a row is taken for the four lanes'", WIDE_SM90,
              [(WIDE_STORE, "Values::each_row(totals[half], totals[half], reductions::CombineLane{arch::lane_index() ^ mask});", "(void)mask;")]),
    *on_paths(LINES, "a lane's part of a column is taken for the warp's", WIDE_SM90,
              [(WIDE_STORE, "Values::each_column(totals[i], totals[i], reductions::CombineLane{arch::lane_index() ^ mask});", "(void)mask;")]),
    *on_paths(LINES, "elements do not join what is of all", WIDE_SM90, [(WIDE_STORE, "        Values::each_all(all, lines, reductions::Combine());\n", "")]),
    Planted("groups", "a lane's part of a group is taken for the four lanes'", WIDE_SM90,
            [(WIDE_STORE, "Values::each_group(groups[half], groups[half], reductions::CombineLane{arch::lane_index() ^ mask});", "(void)mask;")]),
    # The step that finishes what tiles have left.
    *on_paths(LINES, "a row is its first tile's part", WIDE_SM80 + WIDE_SM90, [ROW_IS_ITS_FIRST_PART]),
    *on_paths(LINES, "a column is its first tile's part", WIDE_SM80 + WIDE_SM90, [COLUMN_IS_ITS_FIRST_PART]),
    *on_paths(LINES, "all is the first tile's part", WIDE_SM80 + WIDE_SM90, [ALL_IS_THE_FIRST_PART]),
]
