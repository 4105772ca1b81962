"""In how grouped GEMMs and lists find their problems."""

from mutation.kernels import GROUPED, GROUPED_SM80, GROUPED_SM90, GROUPED_WIDE, GROUPED_WIDE_SM90, LIST, LIST_PIECES, LIST_SM80, LIST_SM90, LIST_WIDE
from mutation.planted.mistake import Planted, on_paths

SCHEDULE = "kernels/grouped_gemm/schedule.cuh"
GROUP_PARAMS = "kernels/grouped_gemm/params.hpp"
GROUP_TILES = "kernels/grouped_gemm/tiles.cuh"
GROUP_SCAN = "kernels/grouped_gemm_sm90/group_scan.cuh"
PIPELINE = "kernels/gemm_sm90/pipeline.cuh"
BESIDE_COPIES = "kernels/grouped_gemm_sm90/beside_copies.cuh"
EXPRESSION = "kernels/common/expression_epilogue.cuh"
WIDE = "kernels/common/wide_epilogue.cuh"
EXPRESSION_STORE = "kernels/gemm_sm90/expression.cuh"
VECTORS = "kernels/gemm_sm90/expression_vectors.cuh"
GROUPED_SM90_EXPRESSION = "kernels/grouped_gemm_sm90/expression.cuh"
WIDE_STORE = "kernels/gemm_sm90/wide_store.cuh"
LIST_SCHEDULE = "kernels/gemm_list/schedule.cuh"
LIST_PARAMS = "kernels/gemm_list/params.hpp"
LIST_PAIRS = "kernels/gemm_list/pairs.cuh"
LIST_EXPRESSION = "kernels/gemm_list/expression.cuh"
GROUP_LINES = "kernels/grouped_gemm/reductions.cuh"
LIST_LINES = "kernels/gemm_list/reductions.cuh"
LIST_MAPS = "kernels/gemm_list_sm90/maps.cuh"
TENSOR_LIST = "kernels/gemm_list_sm90/tensor_list.cuh"
OPERAND_PART = "kernels/common/operand_part.cuh"

EXPRESSIONS = ("expression", "expression_masked", "expression_ragged_k")
WIDE_KERNELS = GROUPED_WIDE + GROUPED_WIDE_SM90
WALKS = GROUPED + GROUPED_SM80  # of blocks whose threads go over the groups together
SIZE_IS_NOT_CLAMPED = (GROUP_PARAMS, "return end > p.room ? p.room : static_cast<int>(end);", "return static_cast<int>(end);")
PAST_THE_TABLE = (EXPRESSION, "return index >= 0 && index < rows.count;", "return index >= 0 && index <= rows.count;")

PLANTED = [
    # Groups.
    *on_paths(("contiguous", "masked"), "the last row of a group is left out", WALKS + GROUPED_SM90,
            [(SCHEDULE, "params.gemm.m : count;", "params.gemm.m : count - 1;")]),
    Planted("ragged_k", "the position behind a group's end is multiplied", WALKS + GROUPED_SM90,
            [(SCHEDULE, "params.gemm.k > 0 ? count :", "params.gemm.k > 0 ? count + 1 :")]),
    *on_paths(("zero_outside", "zero_outside_masked"), "rows outside of all groups keep their bytes", WALKS,
              [(GROUP_TILES, "if (row < work.m()) out.store(work.out().row + row, column, left < 4 ? left : 4, {});", "(void)row, (void)left, (void)out;")]),
    *on_paths(("wrong_sizes", "wrong_sizes_masked", "wrong_sizes_ragged_k"), "a size goes past the room", WALKS, [SIZE_IS_NOT_CLAMPED]),
    *on_paths(("wrong_sizes", "wrong_sizes_ragged_k"), "a size goes below nothing", WALKS,
              [(GROUP_PARAMS, "size > 0 ? size : 0;", "size;"), (GROUP_PARAMS, "  if (end < begin) return begin;\n", "")]),
    # Groups whose sizes the lanes of a warp read. (Positions of K past the room are zeros to the copy engine.)
    *on_paths(("wrong_sizes", "wrong_sizes_masked"), "a size goes past the room", GROUPED_SM90,
              [SIZE_IS_NOT_CLAMPED, (GROUP_SCAN, "return one > params.room - other ? params.room : one + other;", "return one + other;")]),
    *on_paths(("zero_outside", "zero_outside_masked"), "rows outside of all groups keep their bytes", GROUPED_SM90,
              [(BESIDE_COPIES, "out.store(row, column, left < 4 ? left : 4, {});", "(void)left, (void)out;")]),
    Planted("ragged_k", "what lies beside a group's K is multiplied", GROUPED_SM90,
            [(BESIDE_COPIES, "return range.first > 0 || range.end < config.tile.k;", "return range.first > range.end;")]),
    Planted("long_k", "all rounds behind the first have one parity", GROUPED_SM90,
            [(PIPELINE, "if (++stage_ == config.stages) {\n      stage_ = 0;\n      parity_ ^= 1;", "if (++stage_ == config.stages) {\n      stage_ = 0;\n      parity_ = 1;")]),
    # Expressions of groups.
    *on_paths(EXPRESSIONS, "all groups have the vectors of the first", WALKS + GROUPED_SM90,
              [(SCHEDULE, "QUARRY_DEVICE int tensor_entry() const { return batch; }", "QUARRY_DEVICE int tensor_entry() const { return 0; }")]),
    *on_paths(("gathered", "gathered_masked"), "all groups have the tables of the first", WALKS + GROUPED_SM90,
              [(SCHEDULE, "QUARRY_DEVICE int tensor_entry() const { return batch; }", "QUARRY_DEVICE int tensor_entry() const { return 0; }")]),
    *on_paths(("gathered", "gathered_masked"), "an index behind the last row is not noticed", WALKS + GROUPED_SM90, [PAST_THE_TABLE]),
    Planted("expression", "a box that ends within a group is handed to the copy engine", GROUPED_SM90,
            [(EXPRESSION_STORE, "if (rows_left(work, index) < OutputBox::rows) return false;", "(void)index;")]),
    Planted("expression", "rows of vectors begin with the first group", GROUPED_SM90,
            [(VECTORS, "((by_column ? base.column : base.row) + first) * stride", "first * stride")]),
    Planted("groups", "what is reduced of a group's rows lies where it begins", GROUPED_WIDE,
            [(WIDE, "const int row = work.out().row + work.tile_m * tile.m + tile_row;", "const int row = work.tile_m * tile.m + tile_row;")]),
    Planted("groups", "what is reduced of a group's rows lies where it begins", GROUPED_WIDE_SM90,
            [(WIDE_STORE, "work.out().row + row, column / group_columns", "row, column / group_columns")]),
    *on_paths(("gated", "gated_ragged_k"), "a gate is its own partner", WIDE_KERNELS,
              [(WIDE, "return partners.v[this->index];", "return this->sum();")]),
    Planted("gated", "a box that ends within a group is handed to the copy engine", GROUPED_WIDE_SM90,
            [(WIDE_STORE, "work.m() - box_row(work, index) < OutputBox::rows", "work.m() < 0")]),
    Planted("gated_zero_outside", "rows outside of all groups have B's columns", GROUPED_WIDE_SM90,
            [(GROUPED_SM90_EXPRESSION, "clear_outside<Element<config.types.out>, 2>(params);", "clear_outside<Element<config.types.out>, 1>(params);")]),
    Planted("gated_zero_outside", "rows outside of all groups have B's columns", GROUPED_WIDE,
            [(GROUP_TILES, "const int left = (gated ? work.n() / 2 : work.n()) - column;", "const int left = work.n() - column;")]),
    # Lists.
    *on_paths(("pointers", "strided_list"), "the last row of a problem is left out", LIST + LIST_SM80,
              [(LIST_SCHEDULE, "QUARRY_DEVICE int m() const { return extents.m; }", "QUARRY_DEVICE int m() const { return extents.m - 1; }")]),
    *on_paths(("own_leading", "expression"), "lines of outputs are as far apart as the view's", LIST + LIST_SM80,
              [(LIST_SCHEDULE, "return outputs_with_leading(params.gemm, list, problem.extents, c, out);", "return (void)c, (void)out, params.gemm;")]),
    Planted("no_k", "without K nothing is written", LIST + LIST_SM80,
            [(LIST_SCHEDULE, "    tile_end_ = tiles(extents_);", "    tile_end_ = extents_.k > 0 ? tiles(extents_) : 0;")]),
    Planted("long_list", "problems behind the first 32 have their numbers", LIST + LIST_SM80,
            [(LIST_SCHEDULE, "ListWork work = {{static_cast<int>(next_) - 32 + lane_, own}", "ListWork work = {{lane_, own}")]),
    Planted("long_list", "problems behind the first 32 have their numbers", LIST_SM90,
            [(LIST_SCHEDULE, "return static_cast<int>(next_) - 32 + lane_;", "return lane_;")]),
    Planted("wrong_list_sizes", "extents go past the bounds", LIST + LIST_SM80,
            [(LIST_PARAMS, "extent > bound ? bound : extent", "extent")]),
    Planted("wrong_leading", "lines go past the view's", LIST + LIST_SM80,
            [(LIST_PARAMS, "return rounded > bound ? bound : rounded;", "return rounded;")]),
    Planted("host_schedule", "every stretch begins with the first problem", LIST + LIST_SM80,
            [(LIST_SCHEDULE, "next_ = static_cast<long long>(stretch) * list.problems;", "next_ = 0;")]),
    # Expressions of lists.
    Planted("expression", "all problems have the matrices of the first", LIST + LIST_SM80 + LIST_SM90,
            [(EXPRESSION, "(batch_ * m.batch_stride + row * row_stride", "(0 * batch_ * m.batch_stride + row * row_stride")]),
    Planted("gathered", "all problems have the matrices and tables of the first", LIST + LIST_SM80 + LIST_SM90,
            [(EXPRESSION, "(batch_ * m.batch_stride + row * row_stride", "(0 * batch_ * m.batch_stride + row * row_stride")]),
    Planted("gathered", "an index behind the last row is not noticed", LIST + LIST_SM80 + LIST_SM90, [PAST_THE_TABLE]),
    Planted("expression", "lanes store boxes as far apart as the view's lines", LIST_SM90,
            [(EXPRESSION_STORE, "write_box<config>(buffer, work, row, column, Matrices::out(params_, work));", "write_box<config>(buffer, work, row, column, Matrices::beside(params_.gemm.out, work));")]),
    Planted("expression", "vectors of all problems are the first one's", LIST_SM90,
            [(VECTORS, "(tensor_entry(work) * m.batch_stride", "(0 * m.batch_stride")]),
    # Gated pairs and groups of columns of lists.
    *on_paths(("gated", "gated_leading", "eights"), "a gate is its own partner", LIST_WIDE + LIST_SM90,
              [(WIDE, "return partners.v[this->index];", "return this->sum();")]),
    *on_paths(("gated", "gated_wrong_sizes"), "second halves begin a column further on", LIST_WIDE + LIST_SM90,
              [(OPERAND_PART, "part.extent.end = work.n() / 2;", "part.extent.end = work.n() / 2 + 1;")]),
    Planted("gated", "second halves begin eight columns further on", LIST_PIECES,
            [(OPERAND_PART, "part.extent.end = work.n() / 2;", "part.extent.end = work.n() / 2 + 8;")]),
    Planted("gated_leading", "lines of outputs have B's columns", LIST_WIDE,
            [(LIST_PAIRS, "output_extents<is_gated<Epilogue>()>(problem.extents)", "problem.extents")]),
    *on_paths(("gated", "groups"), "all problems have the tensors of the first", LIST_WIDE,
              [(LIST_EXPRESSION, "(params), params, work.batch,", "(params), params, 0 * work.batch,")]),
    *on_paths(("gated", "groups"), "all problems have the tensors of the first", LIST_SM90,
              [(VECTORS, "    return work.out().batch;", "    return 0 * work.out().batch;")]),
    Planted("gated", "maps of outputs have B's columns", LIST_SM90,
            [(LIST_MAPS, "output_extents<gated>(own);", "own;")]),
    Planted("gated_leading", "lanes store boxes in lines of B's columns", LIST_SM90,
            [(TENSOR_LIST, "return output_extents<gated>(extents);", "return extents;")]),
    Planted("gated_leading", "the engine is asked to store what it cannot", LIST_SM90,
            [(WIDE_STORE, "      if (work.by_boxes)\n", "      if (params_.stores_boxes)\n")]),
    Planted("groups", "the engine is asked to store what it cannot", LIST_SM90,
            [(WIDE_STORE, "      if (work.by_boxes)\n", "      if (work.m() > 0)\n")]),
    *on_paths(("gated_wrong_sizes", "eights"), "extents go past the bounds", LIST_WIDE,
              [(LIST_PARAMS, "extent > bound ? bound : extent", "extent")]),
    Planted("eights", "half a block of columns is computed", LIST_WIDE + LIST_SM90,
            [(LIST_PARAMS, "  own.n &= -unit;\n", "  own.n &= -(unit / 8);\n")]),
    Planted("eights", "blocks of eight columns are halves", LIST_SM90[1:],  # other halves lie in copies of their own
            [("kernels/gemm_list_sm90/expression.cuh", "unit, has_halves<Code>()>>", "unit, is_gated<Code>()>>")]),
    # Reductions of lines.
    *on_paths(("reductions_masked", "reductions_ragged_k"), "all groups have the parts of the first one", WIDE_KERNELS,
              [(GROUP_LINES, "static_cast<long long>(span.group) * gemm.tiles_m * tile_pieces;", "0LL * gemm.tiles_m * tile_pieces;")]),
    Planted("wrong_sizes_reductions", "rows behind all groups are finished, too", WIDE_KERNELS,
            [(GROUP_LINES, "end = clamped_end(p, arch::global_load<int>(p.sizes + group), end);", "end = p.room;")]),
    *on_paths(("reductions_leading", "reductions_wrong_sizes"), "all problems have the columns of the first one", LIST_WIDE + LIST_SM90,
              [(LIST_LINES, "static_cast<long long>(problem) * gemm.tiles_m * tile_parts;", "0LL * gemm.tiles_m * tile_parts;")]),
]
