"""In how scales and zero points of operands are read, and in sums that are promoted without them."""

from mutation.kernels import (GROUPED, GROUPED_SM90_SCALES, LIST_SCALES, LIST_SM90_SCALES, NARROW_SM80, SIMT_GROUPS, SIMT_PRECISE, SIMT_SCALES, SIMT_ZEROS, SM80_SCALES, SM90_SCALES,
                              SM90_WEIGHTS)
from mutation.planted.mistake import Planted, on_paths

SCALE_VIEW = "kernels/gemm/scale_view.cuh"
ZERO_VIEW = "kernels/gemm/zero_view.cuh"
SM90_SCALE_WALK = "kernels/gemm_sm90/scales.cuh"
ROW_VALUES = "kernels/gemm_sm90/row_values.cuh"
SM90_WEIGHT_SCALES = "kernels/gemm_sm90/weights.cuh"
NARROW_SUMS = "kernels/gemm_narrow_sm80/sums.cuh"
WEIGHT_ZEROS = "kernels/gemm_sm90/weight_zeros.cuh"

LOOKED_UP = SIMT_SCALES + SM80_SCALES + NARROW_SM80 + GROUPED + LIST_SCALES  # block by block
WALKED = SM90_SCALES + GROUPED_SM90_SCALES + LIST_SM90_SCALES
SCALED = LOOKED_UP + WALKED
GROUPS_OF_K = SIMT_GROUPS + NARROW_SM80
ZEROS = SIMT_ZEROS + NARROW_SM80

PLANTED = [
    # Scales of operands.
    Planted("scales_tensor", "scales are 1", SCALED, [(SCALE_VIEW, "if (params_.values.data == nullptr) return nullptr;", "return nullptr;")]),
    Planted("scales_a", "scales are 1", SIMT_SCALES + SM80_SCALES + NARROW_SM80 + SM90_SCALES,
            [(SCALE_VIEW, "if (params_.values.data == nullptr) return nullptr;", "return nullptr;")]),
    Planted("scales_vector", "all lines have the first one's scale", SCALED, [(SCALE_VIEW, "row * params_.values.row_stride", "0 * row")]),
    Planted("scales_1x128_128x128", "of 128 columns each has a scale", SCALED, [(SCALE_VIEW, " >> params_.lines_log2", "")]),
    Planted("scales_1x128_1x128", "all blocks of K have the first one's scale", LOOKED_UP, [(SCALE_VIEW, "block * params_.values.column_stride", "0 * block")]),
    *on_paths(("scales_1x32", "scales_1x64", "scales_1x64_1x32"), "128 positions of K share a scale", GROUPS_OF_K, [(SCALE_VIEW, "k >> params_.k_log2", "k >> 7")]),
    Planted("scales_1x128_1x128", "all blocks of K have the first one's scale", WALKED,
            [(SM90_SCALE_WALK, "from_[i] += i < rows ? stride_a_ : stride_b_;", "from_[i] += 0 * stride_a_;")]),
    # Weights of half a byte and of a byte whose scales go to registers.
    *on_paths(("scales_1x32", "scales_1x64", "scales_1x64_1x32", "zeros_1x32", "zeros_1x64", "zeros_1x128", "zeros_128x128"), "all groups of K have the first one's values", SM90_WEIGHTS,
              [(ROW_VALUES, "stride_(static_cast<Offset>(values.column_stride * static_cast<int>(sizeof(T)))) {", "stride_(0 * values.column_stride) {")]),
    *on_paths(("scales_vector", "zeros_column"), "all lines have the first one's values", SM90_WEIGHTS,
              [(ROW_VALUES, "(own >> lines_log2) * values.row_stride;", "0 * own * values.row_stride;")]),
    Planted("zeros_tensor", "zero points are 0", SM90_WEIGHTS, [(WEIGHT_ZEROS, "return {zeros.v[0], zeros.v[1]};", "return {0u * zeros.v[0], 0u};")]),
    # Zero points.
    Planted("zeros_tensor", "zero points are 0", ZEROS, [(ZERO_VIEW, "return arch::global_load<unsigned char>(place(line, k));", "return 0 * line * k;")]),
    Planted("zeros_column", "all lines have the first one's zero point", ZEROS, [(ZERO_VIEW, "(line >> lines_log2_) * line_stride_", "0 * line * line_stride_")]),
    *on_paths(("zeros_1x32", "zeros_1x64", "zeros_1x128", "zeros_128x128"), "all groups of K have the first one's zero point", ZEROS,
              [(ZERO_VIEW, "(k >> k_log2_) * k_stride_", "0 * k * k_stride_")]),
    # Weights without scales.
    Planted("unscaled", "what is no scale is 0", SIMT_GROUPS, [(SCALE_VIEW, "from == nullptr ? 1 :", "from == nullptr ? 0 :")]),
    Planted("unscaled", "what is no scale is read", NARROW_SM80, [(NARROW_SUMS, "if (has_b_) {", "if (has_b_ || !has_a_) {")]),
    Planted("unscaled", "what is no scale is 0", SM90_WEIGHTS, [(SM90_WEIGHT_SCALES, "return {1, 1};", "return {0, 0};")]),
    # Sums that are promoted though there are no scales.
    Planted("precise", "what is no scale is 0", SIMT_PRECISE, [(SCALE_VIEW, "from == nullptr ? 1 :", "from == nullptr ? 0 :")]),
    Planted("precise", "what is no scale is 0", SM90_SCALES,
            [(SM90_SCALE_WALK, "arch::shared_store(to + 4 * number(i), 1.0F);", "arch::shared_store(to + 4 * number(i), 0.0F);")]),
]
