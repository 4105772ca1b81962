"""In the epilogue that writes quads of a tile's columns (common/), which many families share, and in how sums are cut there."""

from mutation.kernels import GROUPED, GROUPED_SM80, LIST, LIST_SM80, NARROW_SM80, REDUCE, SIMT, SM80_PATHS, STREAM_PATHS
from mutation.planted.mistake import Planted, on_paths

EPILOGUE = "kernels/common/epilogue.cuh"
MATRIX_VIEW = "kernels/common/matrix_view.cuh"
STAGED = "kernels/common/staged_tile.cuh"
WRITER = "kernels/common/tile_writer.cuh"
STREAM_WRITER = "kernels/common/stream_writer.cuh"

TILES = SM80_PATHS + SIMT
GROUPS = GROUPED + GROUPED_SM80 + LIST + LIST_SM80
QUADS = TILES + REDUCE + NARROW_SM80 + GROUPS
PLAIN_TILES = tuple(kernel for kernel in TILES if "_t2x2" not in kernel)  # whose passes have fewer rows than it takes
REGULAR_BY_ROWS = tuple(kernel for kernel in PLAIN_TILES if kernel.split("_")[6][2] == "r")  # others swap rows and columns
ROUGH_TILES = tuple(kernel for kernel in PLAIN_TILES if kernel.split("_")[5] in ("f16", "bf16") and kernel.split("_")[4] == "f32")

PLANTED = [
    # The epilogue of quads.
    Planted("plain", "a plain quad becomes 0", QUADS, [(EPILOGUE, "return by_alpha(sum);", "return {};")]),
    Planted("plain", "a plain tile is not stored", PLAIN_TILES,
            [(STAGED, "    plain.write(rows.tile_row(0, below), arch::shared_load<Quad<Compute>>(staged.at(row + below, column)));\n", "")]),
    *on_paths(("bias_row", "bias_column"), "the bias is not read", QUADS, [(EPILOGUE, "if (params_.bias != nullptr)", "if (params_.bias == &params_)")]),
    Planted("activation", "the activation is left out", QUADS, [(EPILOGUE, "    activate_outputs(x.v);\n", "")]),
    Planted("c", "C is not read", QUADS, [(EPILOGUE, "if (beta_ != 0) source.c", "if (beta_ == 77) source.c")]),
    Planted("residual", "the residual is not read", QUADS,
            [(EPILOGUE, "if (params_.residual.data != nullptr) {\n      const Quad<Out> read", "if (false) {\n      const Quad<Out> read")]),
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
    Planted("alpha_0", "with alpha 0 the sums are 1", QUADS,
            [(EPILOGUE, "alpha_ == 0 ? 0 : multiplied(alpha_, z.v[i]);", "alpha_ == 0 ? 1 : multiplied(alpha_, z.v[i]);")]),
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
    Planted("split_k_serial", "the second slice forgets the first", TILES + NARROW_SM80, [(WRITER, "if (work_.slice > 0) sum =", "if (work_.slice > 1) sum =")]),
    Planted("split_k_parallel", "partial sums are not stored", TILES + NARROW_SM80,
            [(WRITER, "      partial_output().store(first_row, first_column, count, sum);\n", "")]),
    Planted("stream_k", "the second part forgets the first", STREAM_PATHS, [(STREAM_WRITER, "if (work_.slice > 0) sum", "if (work_.slice > 1) sum")]),
    Planted("array", "an array of pointers is taken for the matrices", TILES + NARROW_SM80, [(MATRIX_VIEW, "&& is_pointer_array(m)) {", "&& false) {")]),
]
