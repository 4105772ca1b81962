"""Mistakes that stand on one path alone: the problem of that path must find each in every kernel that has the path.

`quarry emulate --path NAME` draws the problem; without --path it is one of a kernel's first problems, with the same numbers.
"""

import json
from dataclasses import dataclass

from mutation.kernels import (CONV2D, CONV2D_SM80, CONV2D_SM80_GRADIENTS, CONV2D_SM80_PATCHES, CONV2D_SM80_STRIDED, CONV2D_SM80_WGRAD, CONV2D_SM90, CONV2D_SM90_STRIDED, CONV2D_TURNED, CONV2D_WINDOWS, GROUPED, GROUPED_SM80, LIST, LIST_SM80, REORDER, REDUCE, SIMT,
                              SIMT_GROUPS, SIMT_SCALES, SM80_PATHS, SM90_PATHS, SM90_SCALES, STREAM_PATHS)

EPILOGUE = "kernels/common/epilogue.cuh"
MATRIX_VIEW = "kernels/common/matrix_view.cuh"
STAGED = "kernels/common/staged_tile.cuh"
WRITER = "kernels/common/tile_writer.cuh"
STREAM_WRITER = "kernels/common/stream_writer.cuh"
REORDER_KERNEL = "kernels/reorder_matrix/kernel.cuh"
REDUCE_KERNEL = "kernels/reduce_split_k/kernel.cuh"
PLACES = "kernels/conv2d/places.hpp"
SCHEDULE = "kernels/grouped_gemm/schedule.cuh"
LIST_SCHEDULE = "kernels/gemm_list/schedule.cuh"
LIST_PARAMS = "kernels/gemm_list/params.hpp"
GROUP_TILES = "kernels/grouped_gemm/tiles.cuh"
GATHERER = "kernels/conv2d_sm80/gatherer.cuh"
TILE_STORE = "kernels/gemm_sm90/tile_store.cuh"
STEP = "kernels/gemm_sm90/step.cuh"
STEP_CHAIN = "kernels/gemm_sm90/step_chain.cuh"
GATES = "kernels/gemm_sm90/gates.cuh"
BOX_LANES = "kernels/gemm_sm90/box_lanes.cuh"
BOX_RING = "kernels/gemm_sm90/box_ring.cuh"
CLUSTER_SUM = "kernels/gemm_sm90/cluster_sum.cuh"
BIAS = "kernels/gemm_sm90/bias.cuh"
EXPRESSION = "kernels/common/expression_epilogue.cuh"
EXPRESSION_STORE = "kernels/gemm_sm90/expression.cuh"

SCALE_VIEW = "kernels/gemm/scale_view.cuh"

TILES = SM80_PATHS + SIMT
SCALED = SIMT_SCALES + SM90_SCALES
QUADS = TILES + REDUCE  # by the epilogue that they share
PLAIN_TILES = tuple(kernel for kernel in TILES if "_t2x2" not in kernel)  # whose passes have fewer rows than it takes
REGULAR_BY_ROWS = tuple(kernel for kernel in PLAIN_TILES if kernel.split("_")[6][2] == "r")  # others swap rows and columns
ROUGH_TILES = tuple(kernel for kernel in PLAIN_TILES if kernel.split("_")[5] in ("f16", "bf16") and kernel.split("_")[4] == "f32")


@dataclass
class Planted:
    path: str
    what: str
    kernels: tuple
    edits: list  # of (file, text, replacement); each text stands there exactly once


# What the copy engine has fetched, in the ways of the epilogue that are common.
FETCHED_IS_NOT_ADDED = [(TILE_STORE, "add_values<box, Out>(x, factor, buffer, i * columns, lane);", "add_values<box, Out>(x, 0 * factor, buffer, i * columns, lane);"),
                        (TILE_STORE, "add_values<box, Out>(x, factor, buffer, 0, lane);", "add_values<box, Out>(x, 0 * factor, buffer, 0, lane);")]

PLANTED = [
    # Expressions.
    Planted("expression", "all neighbours have the sum of the first", TILES + STREAM_PATHS + SM90_PATHS,
            [(EXPRESSION, "return sums.v[index];", "return sums.v[0];")]),
    Planted("expression_parallel", "all neighbours have the sum of the first", TILES + SM90_PATHS,
            [(EXPRESSION, "return sums.v[index];", "return sums.v[0];")]),
    Planted("expression_parallel", "the expression reads the sums of the last slice", TILES + SM90_PATHS,
            [(REDUCE_KERNEL, "sum.v[i] = added(sum.v[i], next.v[i]);", "sum.v[i] = next.v[i];")]),
    Planted("expression", "a box is not handed to the copy engine, nor written by lanes", SM90_PATHS,
            [(EXPRESSION_STORE, "        ring_.store(box_at(work, index));\n", "        ring_.advance();\n"),
             (EXPRESSION_STORE, "        write_box<config>(buffer, work, first_row_ + index / block_boxes * instruction_m,\n"
              "                          index % block_boxes * box.columns, params_.gemm.out);\n", "")]),
    # The epilogue of quads.
    Planted("plain", "a plain quad becomes 0", QUADS, [(EPILOGUE, "return by_alpha(sum);", "return {};")]),
    Planted("plain", "a plain tile is not stored", PLAIN_TILES,
            [(STAGED, "    plain.write(rows.tile_row(0, below), arch::shared_load<Quad<Compute>>(staged.at(row + below, column)));\n", "")]),
    *(Planted(path, "the bias is not read", QUADS, [(EPILOGUE, "if (params_.bias != nullptr)", "if (params_.bias == &params_)")])
      for path in ("bias_row", "bias_column")),
    Planted("activation", "the activation is left out", QUADS, [(EPILOGUE, "    activate_outputs(x.v);\n", "")]),
    Planted("c", "C is not read", QUADS, [(EPILOGUE, "if (beta_ != 0) source.c", "if (beta_ == 77) source.c")]),
    Planted("residual", "the residual is not read", QUADS, [(EPILOGUE, "if (params_.residual.data != nullptr) {\n      const Quad<Out> read", "if (false) {\n      const Quad<Out> read")]),
    Planted("clamp", "outputs are not clamped", QUADS, [(EPILOGUE, "if (params_.clamps) clamp(x.v);", "")]),
    Planted("aux", "aux is not written", QUADS, [(EPILOGUE, "matrices_.template of<Out>(params_.aux).store(row, column, count, rounded_z);", "(void)rounded_z;")]),
    Planted("everything", "outputs are not clamped", QUADS, [(EPILOGUE, "if (params_.clamps) clamp(x.v);", "")]),
    Planted("unaligned_out", "of whole quads that are not aligned three outputs are stored", QUADS,
            [(MATRIX_VIEW, "if (i < count) arch::global_store(", "if (i < count && i < 3) arch::global_store(")]),
    Planted("unaligned_c", "of whole quads that are not aligned three values are read", QUADS,
            [(MATRIX_VIEW, "if (i < count) quad.v[i]", "if (i < count && i < 3) quad.v[i]")]),
    Planted("unaligned_partials", "of whole quads that are not aligned three values are read", REDUCE,
            [(MATRIX_VIEW, "if (i < count) quad.v[i]", "if (i < count && i < 3) quad.v[i]")]),
    Planted("batch", "all entries have one place", QUADS, [(MATRIX_VIEW, "return batch * m.batch_stride;", "return 0 * batch;")]),
    Planted("shared_c", "entries that share a matrix lie an element apart", QUADS,
            [(MATRIX_VIEW, "return batch * m.batch_stride;", "return batch * (m.batch_stride == 0 ? 1 : m.batch_stride);")]),
    Planted("alpha_0", "with alpha 0 the sums are 1", QUADS, [(EPILOGUE, "alpha_ == 0 ? 0 : multiplied(alpha_, z.v[i]);", "alpha_ == 0 ? 1 : multiplied(alpha_, z.v[i]);")]),
    # The same of whole tiles.
    Planted("bias_row", "the bias of a regular tile is not added", REGULAR_BY_ROWS, [(EPILOGUE, "x[4 * i + j] = added(x[4 * i + j], bias);", "(void)bias;")]),
    Planted("bias_column", "the bias of a regular tile is not read", REGULAR_BY_ROWS,
            [(EPILOGUE, "result = converted(bias_view().load(0, column, 4));", "(void)column;")]),
    Planted("activation", "the activation of a regular tile is left out", ROUGH_TILES, [(EPILOGUE, "if constexpr (is_rough) activate_outputs(x);", "")]),
    Planted("c", "C of a regular tile is not read", PLAIN_TILES, [(EPILOGUE, "if (beta_ != 0) load_rows(c_, row, row_step, column, c);", "")]),
    Planted("residual", "the residual of a regular tile is not read", PLAIN_TILES,
            [(EPILOGUE, "if (params_.residual.data != nullptr) load_rows(residual(), row, row_step, column, residuals);", "")]),
    Planted("clamp", "a regular tile is not clamped", PLAIN_TILES, [(EPILOGUE, "if (params_.clamps) clamp(x);", "")]),
    # How sums are cut, and arrays.
    Planted("split_k_serial", "the second slice forgets the first", TILES, [(WRITER, "if (work_.slice > 0) sum =", "if (work_.slice > 1) sum =")]),
    Planted("split_k_parallel", "partial sums are not stored", TILES,
            [(WRITER, "      partial_output().store(first_row, first_column, count, sum);\n", "")]),
    Planted("stream_k", "the second part forgets the first", STREAM_PATHS, [(STREAM_WRITER, "if (work_.slice > 0) sum", "if (work_.slice > 1) sum")]),
    Planted("array", "an array of pointers is taken for the matrices", TILES, [(MATRIX_VIEW, "&& is_pointer_array(m)) {", "&& false) {")]),
    # Scales of operands.
    Planted("scales_tensor", "scales are 1", SCALED, [(SCALE_VIEW, "if (params_.values.data == nullptr) return nullptr;", "return nullptr;")]),
    Planted("scales_vector", "all lines have the first one's scale", SCALED, [(SCALE_VIEW, "row * params_.values.row_stride", "0 * row")]),
    Planted("scales_1x128_128x128", "of 128 columns each has a scale", SCALED, [(SCALE_VIEW, " >> params_.lines_log2", "")]),
    Planted("scales_1x128_1x128", "all blocks of K have the first one's scale", SCALED, [(SCALE_VIEW, "block * params_.values.column_stride", "0 * block")]),
    *(Planted(path, "128 positions of K share a scale", SIMT_GROUPS, [(SCALE_VIEW, "k >> params_.k_log2", "k >> 7")])
      for path in ("scales_1x32", "scales_1x64_1x32")),
    # The tile store of gemm_sm90.
    Planted("plain", "a plain tile is not stored", SM90_PATHS,
            [(TILE_STORE, "      store_short<false>(sums, work, lane);", "      if (added() != Added::nothing) store_short<false>(sums, work, lane);")]),
    *(Planted(path, "the bias is not read", SM90_PATHS, [(BIAS, "if (first + i < extent) {", "if (first + i < extent - extent) {")])
      for path in ("bias_row", "bias_column")),
    Planted("activation", "the activation is left out", SM90_PATHS,
            [(TILE_STORE, "if (epilogue().activation != Activation::identity) activate_step<config>(epilogue(), step, x);", ""),
             (TILE_STORE, "gate_doubles(x.v, slope);", ""), (TILE_STORE, "activate_otherwise(x.v);", ""), (GATES, "gate_doubles(x.v, slope);", "")]),
    Planted("c", "C is read and not added", SM90_PATHS, [(TILE_STORE, "step.add(x, factor);", "step.add(x, 0 * factor);"), *FETCHED_IS_NOT_ADDED]),
    Planted("residual", "the residual is read and not added", SM90_PATHS,
            [(STEP_CHAIN, "step.read(e.residual);\n    step.add(x, 1);", "step.read(e.residual);\n    step.add(x, 0);"), *FETCHED_IS_NOT_ADDED]),
    Planted("aux", "aux is not written", SM90_PATHS, [(TILE_STORE, "step.write(e.aux);", "")]),
    Planted("clamp", "outputs are not clamped", SM90_PATHS, [(STEP_CHAIN, "if (e.clamps) {", "if (false) {")]),
    Planted("everything", "outputs are not clamped", SM90_PATHS, [(STEP_CHAIN, "if (e.clamps) {", "if (false) {")]),
    Planted("unaligned_out", "lanes do not store the output", SM90_PATHS,
            [(TILE_STORE, "if (!stores_box(step.work, number / box_steps)) step.write(params().gemm.out);", "")]),
    Planted("unaligned_c", "lanes do not read C", SM90_PATHS, [(TILE_STORE, "if (params().fetched != Fetched::c) step.read(params().gemm.c);", "")]),
    Planted("words", "words are not moved", SM90_PATHS, [(BOX_LANES, "move_accesses<part, 4, to_global>(buffer, first_column, place);", "")]),
    Planted("split_k_parallel", "partial sums are not stored", SM90_PATHS,
            [(TILE_STORE, "step.write_dense(partial_output(step.work), line, left);", ""),
             (TILE_STORE, "step.write_dense(partial_output(step.work), line, x);", "")]),
    Planted("split_k_cluster", "each block reads its own sums only", SM90_PATHS,
            [(CLUSTER_SUM, "Vector<float, 4>>(at, block)", "Vector<float, 4>>(at, arch::cluster_rank())")]),
    Planted("batch", "boxes of all batch entries go to the first", SM90_PATHS,
            [(BOX_RING, "arch::tensor_store(params_.out, x(at), y(at), at.batch,", "arch::tensor_store(params_.out, x(at), y(at), 0,")]),
    Planted("shared_c", "a shared C is looked for in every batch entry", SM90_PATHS, [(TILE_STORE, "if (source.batch_stride == 0) at.batch = 0;", "")]),
    Planted("alpha_0", "with alpha 0 the sums are 1", SM90_PATHS, [(TILE_STORE, "return alpha_ == 0 ? 0 : v;", "return alpha_ == 0 ? 1 : v;")]),
    # Reorders.
    Planted("plain", "fours are not read", REORDER, [(REORDER_KERNEL, "return arch::global_load<Quad<T>>(at(place, 0));", "return {};")]),
    Planted("plain", "fours are not stored", REORDER, [(REORDER_KERNEL, "arch::global_store(at(place, 0), quad);", "")]),
    Planted("unaligned_from", "of fours that are not aligned three elements are read", REORDER,
            [(REORDER_KERNEL, "if (i < place.count) quad.v[i] = arch::global_load", "if (i < place.count && i < 3) quad.v[i] = arch::global_load")]),
    Planted("unaligned_to", "of fours that are not aligned three elements are stored", REORDER,
            [(REORDER_KERNEL, "if (i < place.count) arch::global_store(", "if (i < place.count && i < 3) arch::global_store(")]),
    Planted("same_order", "a matrix in the same order is not stored", REORDER,
            [(REORDER_KERNEL, "    to.store(place, quad);", "    if (params.from.lines_are_rows != params.to.lines_are_rows) to.store(place, quad);")]),
    Planted("pieces", "pieces of matrices with the same lines are not stored", REORDER,
            [(REORDER_KERNEL, "arch::global_store(to.at(place.batch, place.line, place.element), values[turn]);", "(void)values;")]),
    Planted("batch", "all entries have one place", REORDER, [(REORDER_KERNEL, "(batch * side_.batch_stride +", "(0 * batch +")]),
    *(Planted(path, "an interleaved matrix is taken for a plain one", REORDER,
              [(REORDER_KERNEL, "distance(side_.interleaved, element", "distance(false, element")])
      for path in ("interleaved_from", "interleaved_to")),
    # Groups.
    *(Planted(path, "the last row of a group is left out", GROUPED + GROUPED_SM80, [(SCHEDULE, "params.gemm.m : count;", "params.gemm.m : count - 1;")])
      for path in ("contiguous", "masked")),
    Planted("ragged_k", "the position behind a group's end is multiplied", GROUPED + GROUPED_SM80,
            [(SCHEDULE, "params.gemm.k > 0 ? count :", "params.gemm.k > 0 ? count + 1 :")]),
    *(Planted(path, "rows outside of all groups keep their bytes", GROUPED + GROUPED_SM80,
              [(GROUP_TILES, "if (row < work.m()) out.store(work.out().row + row, column, left < 4 ? left : 4, {});", "(void)row, (void)left, (void)out;")])
      for path in ("zero_outside", "zero_outside_masked")),
    # Lists.
    *(Planted(path, "the last row of a problem is left out", LIST + LIST_SM80,
              [(LIST_SCHEDULE, "QUARRY_DEVICE int m() const { return extents.m; }", "QUARRY_DEVICE int m() const { return extents.m - 1; }")])
      for path in ("pointers", "strided_list")),
    Planted("own_leading", "lines of outputs are as far apart as the view's", LIST + LIST_SM80,
            [(LIST_SCHEDULE, "return outputs_with_leading(params, problem.extents, c, out);", "return (void)c, (void)out, params.gemm;")]),
    Planted("no_k", "without K nothing is written", LIST + LIST_SM80,
            [(LIST_SCHEDULE, "    tile_end_ = tiles(extents_);", "    tile_end_ = extents_.k > 0 ? tiles(extents_) : 0;")]),
    Planted("long_list", "problems behind the first 32 have their numbers", LIST + LIST_SM80,
            [(LIST_SCHEDULE, "static_cast<int>(next_) - 32 + lane_", "lane_")]),
    Planted("wrong_list_sizes", "extents go past the bounds", LIST + LIST_SM80,
            [(LIST_PARAMS, "extent > bound ? bound : extent", "extent")]),
    Planted("wrong_leading", "lines go past the view's", LIST + LIST_SM80,
            [(LIST_PARAMS, "return rounded > bound ? bound : rounded;", "return rounded;")]),
    # Convolutions.
    Planted("padding", "windows begin at the image", CONV2D_WINDOWS,
            [(PLACES, "at.middle * w.rows.stride.size - w.rows.padding", "at.middle * w.rows.stride.size")]),
    Planted("padding", "windows begin at the image", CONV2D_TURNED, [(PLACES, "at.middle + w.rows.padding", "at.middle")]),
    Planted("stride", "elements between the positions have a part in the next one", CONV2D_TURNED,
            [(PLACES, "y.rest != 0 || x.rest != 0 ||", "x.rest != 0 ||")]),
    Planted("dilation", "taps are neighbours", CONV2D, [(PLACES, " * axis.dilation;", ";")]),
    Planted("turned", "filters are not turned", CONV2D, [(PLACES, "flips ? axis.taps.size - 1 - tap : tap", "tap")]),
    *(Planted(path, "all groups write to the first", CONV2D,
              [(PLACES, "Direction::wgrad ? group * p.m : 0", "Direction::wgrad ? 0 : 0"),
               (PLACES, "Direction::wgrad ? 0 : group * p.n", "Direction::wgrad ? 0 : 0")])
      for path in ("groups", "depthwise")),
    Planted("odd_groups", "quads of the bias are read whole", CONV2D_WINDOWS[:1] + CONV2D_SM80[:1],
            [(EPILOGUE, "if (!matrices_.has_whole_quads()) view.quads_aligned = false;", "")]),
    Planted("scale", "the scale is not read", CONV2D_WINDOWS[:1] + CONV2D_TURNED[:1] + CONV2D_SM80[:2] + CONV2D_SM80_STRIDED[:1] + CONV2D_SM80_PATCHES,
            [(EPILOGUE, "if (params_.scale.data == nullptr) return result;", "if (params_.scale.data != &params_) return result;")]),
    Planted("scale", "the scale is not read", CONV2D_SM90[:2] + CONV2D_SM90_STRIDED, [(STEP, "x.v[i] *= by_rows", "x.v[i] *= true ? 1 : by_rows")]),
    Planted("odd_groups_scale", "quads of the scale are read whole", CONV2D_WINDOWS[:1] + CONV2D_TURNED[:1],
            [("kernels/conv2d_simt/output.cuh", "!Tensors(params, batch).has_whole_quads()", "false")]),
    *(Planted(path, "the residual is not read", CONV2D + CONV2D_SM80[:2] + CONV2D_SM80_WGRAD + CONV2D_SM80_PATCHES + CONV2D_SM80_GRADIENTS,
              [(EPILOGUE, "if (params_.residual.data != nullptr) {\n      const Quad<Out> read", "if (false) {\n      const Quad<Out> read")])
      for path in ("residual", "residual_in_place")),
    *(Planted(path, "aux is not written", CONV2D + CONV2D_SM80[:2] + CONV2D_SM80_WGRAD + CONV2D_SM80_PATCHES + CONV2D_SM80_GRADIENTS,
              [(EPILOGUE, "matrices_.template of<Out>(params_.aux).store(row, column, count, rounded_z);", "(void)rounded_z;")])
      for path in ("aux", "all_tensors")),
    Planted("residual", "the residual is read and not added", CONV2D_SM90 + CONV2D_SM90_STRIDED,
            [(STEP_CHAIN, "step.read(e.residual);\n    step.add(x, 1);", "step.read(e.residual);\n    step.add(x, 0);"), *FETCHED_IS_NOT_ADDED]),
    *(Planted(path, "aux is not written", CONV2D_SM90 + CONV2D_SM90_STRIDED, [(TILE_STORE, "step.write(e.aux);", "")])
      for path in ("aux", "all_tensors")),
    # Convolutions whose copies gather pieces.
    Planted("padding", "windows reach a row past the image", tuple(k for k in CONV2D_SM80 if "dgrad" not in k),
            [(GATHERER, "is_in(extent.row + k.row, w.rows)", "(extent.row + k.row == w.rows.extent || is_in(extent.row + k.row, w.rows))")]),
    Planted("plain", "the end of K is not looked at", CONV2D_SM80_WGRAD, [(GATHERER, "share(Matrix::along_k(params_, k), k < k_end_)", "share(Matrix::along_k(params_, k), true)")]),
    Planted("groups", "all groups read the first", CONV2D_SM80, [(GATHERER, " + part.group_offset * element_bytes)", " + 0 * part.group_offset)")]),
    # Patches of pixels.
    Planted("whole_tiles", "plain outputs lie in one line of the tile", CONV2D_SM80_PATCHES,
            [("kernels/conv2d_sm80/window_output.cuh", "epilogue.place(row + rows_below, column)", "epilogue.place(row, column)")]),
    Planted("whole_tiles_bias", "regular outputs lie in one line of the tile", CONV2D_SM80_PATCHES,
            [(EPILOGUE, "place(row + i * row_step, column),", "place(row, column),")]),
    Planted("whole_tiles_residual", "the residual of a regular tile is not read", CONV2D_SM80_PATCHES,
            [(EPILOGUE, "if (params_.residual.data != nullptr) load_rows(residual(), row, row_step, column, residuals);", "")]),
    Planted("slices", "all slices add up the first tiles of outputs", CONV2D_SM80_GRADIENTS,
            [("kernels/conv2d_sm80/window_gradient.cuh", "tile(params, work.first_k_tile + i)", "tile(params, i)")]),
]


def texts_of(root, planted):
    """The files that a mistake changes, by name, as they are with it."""
    texts = {}
    for path, old, new in planted.edits:
        text = texts.get(path) or (root / path).read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise SystemExit(f"mutation/planted.py: {planted.path}, '{planted.what}': not exactly once in {path}: {old!r}")
        texts[path] = text.replace(old, new)
    return texts


def words_for(command, planted, kernels, seed):
    """The run that must find the mistake in the folder `kernels`."""
    return [command, "emulate", *planted.kernels, "--path", planted.path, "--kernels", str(kernels), "--seed", str(seed), "--format", "json"]


def counts_of(output):
    """(kernels that were found wrong, kernels that have the path) as the run's JSON says."""
    document = json.loads(output)
    return len(document["wrong"]), sum(path["kernels"] for path in document["paths"])
