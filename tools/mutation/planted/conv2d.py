"""In how convolutions find what they multiply, and where their outputs lie."""

from mutation.kernels import (CONV2D, CONV2D_SM80, CONV2D_SM80_GRADIENTS, CONV2D_SM80_PATCHES, CONV2D_SM80_STRIDED, CONV2D_SM80_WGRAD, CONV2D_SM90,
                              CONV2D_SM90_STRIDED, CONV2D_TURNED, CONV2D_WINDOWS)
from mutation.planted import tile_store
from mutation.planted.mistake import Planted, on_paths
from mutation.planted.expressions import EXPRESSION
from mutation.planted.quads import EPILOGUE, WRITER

PLACES = "kernels/conv2d/places.hpp"
OUTPUT = "kernels/conv2d/output.cuh"
LOADER = "kernels/conv2d_simt/loader.cuh"
GATHERER = "kernels/conv2d_sm80/gatherer.cuh"
WINDOW_OUTPUT = "kernels/conv2d_sm80/window_output.cuh"
WINDOW_GRADIENT = "kernels/conv2d_sm80/window_gradient.cuh"
SOURCES = "kernels/conv2d_sm90/sources.cuh"
PHASE = "kernels/conv2d/phase.cuh"
PHASE_SOURCES = "kernels/conv2d_sm90/phase_sources.cuh"
PHASE_WORK = "kernels/conv2d_sm90/phase_work.cuh"

WITHOUT_PHASES = CONV2D + tuple(k for k in CONV2D_SM80 if "strided" not in k) + CONV2D_SM80_PATCHES + CONV2D_SM80_GRADIENTS
# Of each direction and way to gather some: the epilogue is the same of all.
QUADS = CONV2D_WINDOWS[:2] + CONV2D_TURNED[:1] + CONV2D_SM80[:3] + CONV2D_SM80_WGRAD[:1] + CONV2D_SM80_STRIDED[:1] + CONV2D_SM80_PATCHES + CONV2D_SM80_GRADIENTS[:1]
STORES = CONV2D_SM90 + CONV2D_SM90_STRIDED
EXPRESSED = tuple(kernel for kernel in CONV2D + CONV2D_SM80 + CONV2D_SM90 if "strided" not in kernel and "nc32hw32" not in kernel)
TENSORS = CONV2D + CONV2D_SM80[:2] + CONV2D_SM80_WGRAD + CONV2D_SM80_PATCHES + CONV2D_SM80_GRADIENTS
TURNED_SM90 = tuple(kernel for kernel in CONV2D_SM90 if "dgrad" in kernel)
TAPS_SM90 = tuple(kernel for kernel in CONV2D_SM90 if "wgrad" not in kernel)  # K is taps
WGRAD_SM90 = tuple(kernel for kernel in CONV2D_SM90 if "wgrad" in kernel)
WINDOWS_SM90 = tuple(kernel for kernel in CONV2D_SM90 if "dgrad" not in kernel)

PLANTED = [
    # Convolutions.
    Planted("padding", "windows begin at the image", CONV2D_WINDOWS,
            [(PLACES, "at.middle * w.rows.stride.size - w.rows.padding", "at.middle * w.rows.stride.size")]),
    Planted("padding", "windows begin at the image", CONV2D_TURNED, [(PLACES, "at.middle + w.rows.padding", "at.middle")]),
    Planted("stride", "elements between the positions have a part in the next one", CONV2D_TURNED,
            [(PLACES, "y.rest != 0 || x.rest != 0 ||", "x.rest != 0 ||")]),
    Planted("dilation", "taps are neighbours", WITHOUT_PHASES, [(PLACES, " * axis.dilation;", ";")]),
    Planted("turned", "filters are not turned", WITHOUT_PHASES, [(PLACES, "flips ? axis.taps.size - 1 - tap : tap", "tap")]),
    *on_paths(("groups", "depthwise"), "all groups write to the first", CONV2D,
              [(PLACES, "Direction::wgrad ? group * p.m : 0", "Direction::wgrad ? 0 : 0"),
               (PLACES, "Direction::wgrad ? 0 : group * p.n", "Direction::wgrad ? 0 : 0")]),
    Planted("odd_groups", "quads of the bias are read whole", CONV2D_WINDOWS[:1] + CONV2D_SM80[:1],
            [(EPILOGUE, "if (!matrices_.has_whole_quads()) view.quads_aligned = false;", "")]),
    # Convolutions whose copies gather pieces.
    Planted("padding", "windows reach a row past the image", tuple(k for k in CONV2D_SM80 if "dgrad" not in k),
            [(GATHERER, "is_in(extent.row + k.row, w.rows)", "(extent.row + k.row == w.rows.extent || is_in(extent.row + k.row, w.rows))")]),
    Planted("plain", "the end of K is not looked at", CONV2D_SM80_WGRAD,
            [(GATHERER, "share(Matrix::along_k(params_, k), k < k_end_)", "share(Matrix::along_k(params_, k), true)")]),
    Planted("groups", "all groups read the first", CONV2D_SM80, [(GATHERER, " + part.group_offset * element_bytes)", " + 0 * part.group_offset)")]),
    # Patches of pixels.
    Planted("whole_tiles", "plain outputs lie in one line of the tile", CONV2D_SM80_PATCHES,
            [(WINDOW_OUTPUT, "epilogue.place(row + rows_below, column)", "epilogue.place(row, column)")]),
    Planted("whole_tiles_bias", "regular outputs lie in one line of the tile", CONV2D_SM80_PATCHES,
            [(EPILOGUE, "place(row + i * row_step, column),", "place(row, column),")]),
    Planted("slices", "all slices add up the first tiles of outputs", CONV2D_SM80_GRADIENTS,
            [(WINDOW_GRADIENT, "tile(params, work.first_k_tile + i)", "tile(params, i)")]),
    # The epilogue over tensors.
    Planted("plain", "a plain quad becomes 0", QUADS, [(EPILOGUE, "return by_alpha(sum);", "return {};")]),
    *on_paths(("c", "c_in_place"), "C is not read", QUADS, [(EPILOGUE, "if (beta_ != 0) source.c", "if (beta_ == 77) source.c")]),
    Planted("bias", "the bias is not read", QUADS, [(EPILOGUE, "if (params_.bias != nullptr)", "if (params_.bias == &params_)")]),
    Planted("activation", "the activation is left out", QUADS, [(EPILOGUE, "    activate_outputs(x.v);\n", "")]),
    Planted("clamp", "outputs are not clamped", QUADS, [(EPILOGUE, "if (params_.clamps) clamp(x.v);", "")]),
    Planted("alpha_0", "with alpha 0 the sums are 1", QUADS,
            [(EPILOGUE, "alpha_ == 0 ? 0 : multiplied(alpha_, z.v[i]);", "alpha_ == 0 ? 1 : multiplied(alpha_, z.v[i]);")]),
    *on_paths(("odd_channels", "unaligned"), "the first of channels that are no whole quads is not stored", CONV2D + CONV2D_SM80,
              [(OUTPUT, "if (i < count) arch::global_store(", "if (i < count && i > 0) arch::global_store(")]),
    *on_paths(("odd_channels", "unaligned"), "the first of channels that are no whole quads is not stored", CONV2D_SM80_PATCHES,
              [(WINDOW_OUTPUT, "if (i < count) arch::global_store(", "if (i < count && i > 0) arch::global_store(")]),
    # Scale, residual and aux of that epilogue.
    *on_paths(("scale", "scale_tensor"), "the scale is not read", CONV2D_WINDOWS[:1] + CONV2D_TURNED[:1] + CONV2D_SM80[:2] + CONV2D_SM80_STRIDED[:1] + CONV2D_SM80_PATCHES,
            [(EPILOGUE, "if (params_.scale.data == nullptr) return result;", "if (params_.scale.data != &params_) return result;")]),
    Planted("odd_groups_scale", "quads of the scale are read whole", CONV2D_WINDOWS[:1] + CONV2D_TURNED[:1],
            [("kernels/conv2d_simt/output.cuh", "!Tensors(params, batch).has_whole_quads()", "false")]),
    *on_paths(("residual", "residual_in_place"), "the residual is not read", TENSORS,
              [(EPILOGUE, "if (params_.residual.data != nullptr) {\n      const Quad<Out> read", "if (false) {\n      const Quad<Out> read")]),
    *on_paths(("aux", "all_tensors"), "aux is not written", TENSORS,
              [(EPILOGUE, "matrices_.template of<Out>(params_.aux).store(row, column, count, rounded_z);", "(void)rounded_z;")]),
    Planted("whole_tiles_residual", "the residual of a regular tile is not read", CONV2D_SM80_PATCHES,
            [(EPILOGUE, "if (params_.residual.data != nullptr) load_rows(residual(), row, row_step, column, residuals);", "")]),
    # Windows.
    Planted("stride", "windows begin one element apart", CONV2D_WINDOWS + tuple(k for k in CONV2D_SM80 if "dgrad" not in k),
            [(PLACES, "at.middle * w.rows.stride.size - w.rows.padding", "at.middle - w.rows.padding")]),
    Planted("one_tap", "the only tap looks a row further on", WITHOUT_PHASES, [(PLACES, ") * axis.dilation;", ") * axis.dilation + (axis.taps.size == 1);")]),
    Planted("words", "words of channels become 0", tuple(k for k in CONV2D if "s8" in k or "u8" in k),
            [(LOADER, "arch::global_load<unsigned>(first_ + place)}", "0U * arch::global_load<unsigned>(first_ + place)}")]),
    Planted("stride", "a phase's rows are neighbours", CONV2D_SM80_STRIDED,
            [(PHASE, "part.row_stride = tensor.row_stride * row_step;", "part.row_stride = tensor.row_stride;")]),
    Planted("dilation", "taps of a phase are neighbours", CONV2D_SM80_STRIDED, [(PHASE, "axis.dilation = dilation;", "axis.dilation = 1;")]),
    *on_paths(("turned", "stride"), "a phase begins with the tensor's first row", CONV2D_SM80_STRIDED,
            [(PHASE, "(row * tensor.row_stride + column", "(0 * row + column")]),
    # Slices.
    Planted("split_k_serial", "the second slice forgets the first", CONV2D_SM80, [(WRITER, "if (work_.slice > 0) sum =", "if (work_.slice > 1) sum =")]),
    *on_paths(("split_k_serial", "split_k_parallel"), "all slices add up the first tiles of outputs", CONV2D_SM80_GRADIENTS,
              [(WINDOW_GRADIENT, "tile(params, work.first_k_tile + i)", "tile(params, i)")]),
    # Tiles that gemm_sm90 stores.
    Planted("plain", "a plain tile is not stored", CONV2D_SM90,
            [(tile_store.TILE_STORE, "      store_short<false>(sums, work, lane);", "      if (added() != Added::nothing) store_short<false>(sums, work, lane);")]),
    *on_paths(("c", "c_in_place"), "C is read and not added", STORES, tile_store.C_IS_NOT_ADDED),
    Planted("bias", "the bias is not read", STORES, tile_store.BIAS_IS_NOT_READ),
    *on_paths(("scale", "scale_tensor"), "the scale is not read", CONV2D_SM90[:2] + CONV2D_SM90_STRIDED, [("kernels/gemm_sm90/step.cuh", "x.v[i] *= by_rows", "x.v[i] *= true ? 1 : by_rows")]),
    Planted("residual", "the residual is read and not added", STORES, tile_store.RESIDUAL_IS_NOT_ADDED),
    *on_paths(("aux", "all_tensors"), "aux is not written", STORES, tile_store.AUX_IS_NOT_WRITTEN),
    Planted("expression", "all neighbours have the sum of the first", EXPRESSED,
            [(EXPRESSION, "return sums.v[index];", "return sums.v[0];")]),
    Planted("activation", "the activation is left out", STORES, tile_store.NO_ACTIVATION),
    Planted("clamp", "outputs are not clamped", STORES, tile_store.NO_CLAMP),
    Planted("alpha_0", "with alpha 0 the sums are 1", STORES, tile_store.WITHOUT_SUMS),
    Planted("split_k_parallel", "partial sums are not stored", CONV2D_SM90, tile_store.NO_PARTIAL_SUMS),
    Planted("split_k_cluster", "each block reads its own part of the sums only", STORES, tile_store.OWN_SUMS_ONLY),
    # Windows that the copy engine brings.
    Planted("padding", "windows begin at the image", WINDOWS_SM90, [(SOURCES, "  return axis.padding;", "  return 0;")]),
    Planted("padding", "windows begin at the image", TURNED_SM90,
            [(SOURCES, "(axis.taps.size - 1) * axis.dilation - axis.padding;", "(axis.taps.size - 1) * axis.dilation;")]),
    Planted("stride", "windows begin one element apart", CONV2D_SM90,
            [(SOURCES, "at.middle * w.rows.stride.size - lead<direction>(w.rows)", "at.middle - lead<direction>(w.rows)")]),
    Planted("dilation", "rows of taps are neighbours", TAPS_SM90,
            [(SOURCES, "static_cast<int>(by_row.whole) * windows.rows.dilation;", "static_cast<int>(by_row.whole);"),
             (SOURCES, "rows_on += windows_.rows.dilation;", "rows_on += 1;")]),
    Planted("dilation", "taps are neighbours", WGRAD_SM90, [(PLACES, " * axis.dilation;", ";")]),
    Planted("turned", "filters are not turned", TAPS_SM90, [(SOURCES, "(direction == Direction::dgrad) == windows.flips", "(direction == Direction::dgrad) == false")]),
    Planted("turned", "filters are not turned", WGRAD_SM90, [(PLACES, "flips ? axis.taps.size - 1 - tap : tap", "tap")]),
    Planted("one_tap", "windows of one tap begin a row further on", CONV2D_SM90,
            [(SOURCES, "at.middle * w.rows.stride.size - lead<direction>(w.rows)", "at.middle * w.rows.stride.size - lead<direction>(w.rows) + (w.rows.taps.size == 1)")]),
    Planted("odd_channels", "odd channels begin with the second", TAPS_SM90,
            [(SOURCES, "channel = static_cast<int>(by_tap.rest) * tile_k;", "channel = static_cast<int>(by_tap.rest) * tile_k + (windows.channels.size % 8 != 0);")]),
    # Phases of a gradient with strides.
    *on_paths(("padding", "plain"), "phases begin a row further on", CONV2D_SM90_STRIDED,
            [(PHASE_SOURCES, "params.rows.first + at.middle", "params.rows.first + 1 + at.middle")]),
    Planted("stride", "a phase's rows are neighbours", CONV2D_SM90_STRIDED, [(PHASE_WORK, "at.middle * w.rows.stride.size;", "at.middle;")]),
    Planted("dilation", "rows of taps are neighbours", CONV2D_SM90_STRIDED, [(PHASE_SOURCES, "row_ * params_.rows.dilation;", "row_;")]),
    *on_paths(("turned", "one_tap", "odd_channels"), "the tap behind is multiplied", CONV2D_SM90_STRIDED,
              [(PHASE_SOURCES, "tap = phase_.last_tap - row_", "tap = phase_.last_tap + 1 - row_")]),
]
