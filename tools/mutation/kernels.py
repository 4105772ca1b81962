"""Which kernels are run for a mutant, and on what: together they use each part of the source it stands in."""

import re
from dataclasses import dataclass


@dataclass
class Stage:
    """One run of the command. Stages are run in order until one catches the mutant."""

    sources: str  # regular expression on the path of the source that is changed
    kernels: tuple
    arguments: tuple = ()


SM90 = r"kernels/gemm_sm90"
STREAM = r"kernels/common/stream_.*"
COMMON = r"kernels/common/(?!stream_).*"

# Each way to copy an operand (as wide as 8, 4, 2 elements; one by one; another way for each operand), both orders of lines for
# both operands, warps along K, 2 to 5 stages, sums in f16 and f32, an output tile of 16 along an extent.
SM80_FIRST = ("gemm_sm80_f16_f16_f32_f16_rcr_32x32x64_w1x1x2_s4_a8x8",
              "gemm_sm80_f16_f16_f32_f32_crr_32x32x64_w1x1x2_s4_a1x1")
SM80_REST = ("gemm_sm80_f16_f16_f16_f16_ccr_16x64x64_w1x2x2_s5_a8x8",
             "gemm_sm80_bf16_bf16_f32_bf16_crr_64x16x64_w2x1x2_s5_a8x8",
             "gemm_sm80_f16_f16_f32_f16_rrr_32x32x64_w1x1x2_s4_a8x1",
             "gemm_sm80_f16_f16_f32_f16_rrr_64x64x64_w2x2x1_s3_a2x2",
             "gemm_sm80_f16_f16_f32_f16_crr_64x64x64_w2x2x1_s3_a4x4",
             "gemm_sm80_bf16_bf16_f32_f32_rcr_32x32x64_w1x1x2_s4_a1x1",
             "gemm_sm80_f16_f16_f32_f16_ccc_128x64x32_w2x2x1_s3_a8x8",
             "gemm_sm80_f16_f16_f32_f16_rcr_128x128x64_w2x2x1_s2_a8x8")
# What is done to f32 operands, in both orders of lines; and f64.
SM80_MATH = ("gemm_sm80_f32_f32_f32_f32_crr_64x64x32_w2x2x1_s3_fast_tf32_a4x4",
             "gemm_sm80_f32_f32_f32_f32_rcr_32x32x64_w1x1x2_s4_fast_f32_a1x1",
             "gemm_sm80_f32_f32_f32_f32_ccr_64x64x32_w2x2x1_s3_fast_f16_a2x2",
             "gemm_sm80_f32_f32_f32_f32_rrr_64x64x32_w2x2x1_s3_fast_bf16_a4x4")
SM80_F64 = ("gemm_sm80_f64_f64_f64_f64_crr_64x64x16_w2x2x1_s3_a2x2",
            "gemm_sm80_f64_f64_f64_f64_rcr_32x32x32_w1x1x2_s4_a1x1",
            "gemm_sm80_f64_f64_f64_f64_rrr_32x32x32_w1x1x2_s4_m16n8k8_a2x2",
            "gemm_sm80_f16_f16_f32_f16_rrr_64x64x64_w2x2x1_s4_m16n8k8_a8x8")
# Bytes, copied in all ways that they can be.
SM80_BYTES = ("gemm_sm80_s8_u8_s32_s8_rcr_64x64x64_w2x2x1_s4_a1x1",
              "gemm_sm80_u8_s8_s32_s32_rcr_32x32x128_w1x1x2_s4_a16x16",
              "gemm_sm80_s8_s8_s32_s8_rcr_64x64x64_w2x2x1_s4_fast_clamp_a16x16",
              "gemm_sm80_s8_s8_s32_s8_CRC_64x32x128_w2x1x2_s4_a16x16",
              "gemm_sm80_f16_s8_f32_f16_ccr_64x16x128_w2x1x2_s4_a8x16",
              "gemm_sm80_u8_bf16_f32_f32_rrr_64x64x64_w2x2x1_s3_a1x1")
# Weights of half a byte and of a byte, with zero points and without: warps along K alone, warps along both, and the fewest stages.
NARROW_SM80 = ("gemm_narrow_sm80_bf16_s4_f32_bf16_rcr_16x64x512_w1x1x4_s3", "gemm_narrow_sm80_f16_u8_f32_f32_rcr_64x64x256_w1x2x2_s4_zero_points",
               "gemm_narrow_sm80_bf16_s4_f32_bf16_rcr_64x64x512_w1x2x4_s2", "gemm_narrow_sm80_f16_s8_f32_f16_rcr_16x64x512_w1x1x4_s3",
               "gemm_narrow_sm80_bf16_u4_f32_bf16_rcr_16x64x512_w1x1x4_s3_zero_points")
# Weights that lanes read themselves.
NARROW_DIRECT = ("gemm_narrow_sm80_bf16_s4_f32_bf16_rcr_8x32x512_w1x1x4_s2_block_scales_direct",
                 "gemm_narrow_sm80_f16_u4_f32_f32_rcr_8x32x1024_w1x1x8_s2_block_scales_direct")
# Blocks that share tiles: few and large tiles, many and small ones, warps along K, sums of all three types.
SM80_STREAM = ("gemm_sm80_f16_f16_f32_f16_rcr_64x64x64_w2x2x2_s4_stream_k_a8x8",
               "gemm_sm80_s8_s8_s32_s32_rcr_64x64x128_w2x2x1_s5_stream_k_a16x16",
               "gemm_sm80_f64_f64_f64_f64_crr_64x64x16_w2x2x1_s5_stream_k_a2x2")
# Without a bank conflict, whatever the problem.
SM80_NO_CONFLICTS = ("gemm_sm80_f16_f16_f32_f16_rcr_32x32x64_w1x1x2_s4_a8x8",
                     "gemm_sm80_f16_f16_f32_f16_crr_64x64x32_w2x2x1_s5_a8x8",
                     "gemm_sm80_f16_f16_f16_f16_ccr_16x64x64_w1x2x2_s5_a8x8",
                     "gemm_sm80_f16_f16_f32_f16_rrr_128x32x64_w4x1x1_s4_a8x8")
SIMT_NO_CONFLICTS = ("gemm_simt_f32_f32_f32_f32_rcr_128x128x8_t8x8", "gemm_simt_f32_f32_f32_f32_crr_64x64x16_t4x4")
SIMT = ("gemm_simt_f32_f32_f32_f32_rcr_64x64x16_t4x4", "gemm_simt_f64_f64_f64_f64_crr_64x64x16_t4x4",
        "gemm_simt_f16_f16_f16_f16_rrr_64x64x16_t4x4", "gemm_simt_bf16_bf16_f32_f32_ccr_128x128x8_t8x8",
        "gemm_simt_f16_f16_f32_f16_rcc_32x32x16_t2x2", "gemm_simt_s8_u8_s32_s32_rcr_64x64x64_t4x4",
        "gemm_simt_u8_s8_s32_s8_crr_64x64x64_t4x4", "gemm_simt_s8_s8_s32_s8_RCC_64x64x64_t4x4")
# Copied asynchronously: words along K and along the extent; the last one, which the registry lacks, has fewer threads than rows.
SIMT_STAGES = ("gemm_simt_f32_f32_f32_f32_rcr_128x128x8_t8x8_s4", "gemm_simt_f32_f32_f32_f32_crr_64x64x16_t8x4_s4",
               "gemm_simt_f32_f32_f32_f32_ccr_256x128x8_t16x8_s4",
               "gemm_simt_f32_f32_f32_f32_crr_256x32x8_t16x4_s4")
# In vectors of four: both operands, B beside words of A, A beside words of B.
SIMT_VECTORS = ("gemm_simt_f32_f32_f32_f32_crr_64x128x8_t8x8_s4_v4", "gemm_simt_f32_f32_f32_f32_rrr_128x128x8_t8x8_s4_v4",
                "gemm_simt_f32_f32_f32_f32_ccr_128x16x16_t8x2_s4_v4")
# Scales of operands.
SIMT_SCALES = ("gemm_simt_f32_f32_f32_f32_rcr_64x64x16_t4x4_block_scales", "gemm_simt_s8_s8_s32_f32_crr_64x64x64_t4x4_block_scales")

# Groups of scales, and weights of half a byte.
SIMT_GROUPS = ("gemm_simt_f16_s4_f32_f16_rcr_64x64x16_t4x4_group_scales", "gemm_simt_bf16_u4_f32_f32_crr_64x64x16_t4x4_group_scales")

# Operands by the copy engine: sums in one go and in slices of a cluster, clusters of both directions, turns of two warpgroups with
# one and two blocks of rows, warpgroups that share a tile, registers that move, outputs in both orders, in boxes of 16- and of
# 32-bit elements and of the narrowest columns, sums in f16. And by threads, in pieces of 4 and 8 bytes, both orders of lines.
SM90_FIRST = ("gemm_sm90_f16_f16_f32_f16_rcr_64x32x128_c1x1_s4_one_tile_a8x8",
              "gemm_sm90_f16_f16_f32_f16_rcr_128x128x64_c2x2_s6_ping_pong_a8x8")
SM90_REST = ("gemm_sm90_f16_f16_f32_f32_crc_64x32x64_c1x1_s6_one_tile_a8x8",
             "gemm_sm90_f16_f16_f16_f16_ccc_64x8x128_c1x1_s5_one_tile_a8x8",
             "gemm_sm90_f16_f16_f32_f32_rrr_128x64x64_c1x1_s4_one_tile_a8x8",
             "gemm_sm90_bf16_bf16_f32_bf16_crr_128x256x64_c1x2_s4_cooperative_a8x8",
             "gemm_sm90_bf16_bf16_f32_bf16_rcc_128x192x64_c2x1_s4_ping_pong_a8x8")
SM90_THREADS = ("gemm_sm90_f16_f16_f32_f16_rcr_64x64x64_c1x1_s4_one_tile_cp_async_a2x2",
                "gemm_sm90_bf16_bf16_f32_f32_crr_128x128x64_c1x1_s6_cooperative_cp_async_a4x4")
# Scales: vectors, of tiles in turns and of sums of whole numbers; blocks of one K tile and of two, in one set of sums and in two; by two
# warpgroups, of several strips of columns and of 128 rows each.
SM90_SCALES = ("gemm_sm90_e4m3_e4m3_f32_bf16_rcr_64x32x128_c1x1_s8_one_tile_a16x16_block_scales",
               "gemm_sm90_bf16_bf16_f32_bf16_rcr_64x64x64_c1x1_s6_one_tile_a8x8_block_scales",
               "gemm_sm90_e4m3_e4m3_f32_bf16_rcr_64x128x128_c1x1_s7_ping_pong_a16x16_vector_scales",
               "gemm_sm90_s8_s8_s32_f32_rcr_64x32x128_c1x1_s8_one_tile_a16x16_vector_scales",
               "gemm_sm90_e4m3_e4m3_f32_bf16_rcr_64x128x128_c1x1_s7_ping_pong_a16x16_block_scales",
               "gemm_sm90_e4m3_e4m3_f32_bf16_rcr_128x160x128_c1x1_s5_cooperative_a16x16_block_scales",
               "gemm_sm90_e4m3_e4m3_f32_bf16_rcr_256x128x128_c1x1_s3_cooperative_a16x16_block_scales")
# Scales of each column: of sums in one set that leave registers for them, by blocks that share operands.
SM90_COLUMN_SCALES = ("gemm_sm90_e4m3_e4m3_f32_f16_rcr_128x128x128_c2x1_s6_cooperative_a16x16_block_scales", "128x128x1040",
                      "--a-scale", "1x128", "--b-scale", "1x128", "--mode", "gemm")
# Gated pairs, whose columns have scales of their own where pairs lie in halves.
SM90_GATED_SCALES = (SM90_SCALES[4], "64x384x208", "--a-scale", "1x128", "--b-scale", "128x128", "--epilogue", "out = silu(gate(sum)) * up(sum)")
# As many blocks of K as three rounds of the ring: scales are read ahead of their turn in each.
SM90_SCALE_ROUNDS = ("128x64x1040", "--a-scale", "1x128", "--b-scale", "128x128", "--mode", "gemm")
# Weights of half a byte and of a byte, with zero points and without, and warpgroups that share K tiles.
SM90_WEIGHTS = ("gemm_sm90_bf16_s4_f32_bf16_rcr_8x64x256_c1x1_s12_one_tile_exchanged_a8x32_group_scales_k4",
                "gemm_sm90_f16_u4_f32_f32_rcr_64x128x128_c1x1_s7_one_tile_exchanged_a8x32_zero_points",
                "gemm_sm90_bf16_u8_f32_bf16_rcr_64x64x128_c1x1_s6_one_tile_exchanged_a8x16_zero_points_k3",
                "gemm_sm90_f16_e4m3_f32_f16_rcr_16x64x128_c1x1_s12_one_tile_exchanged_a8x16_group_scales_k4")
# Each is one problem that random ones are not, or seldom: (kernel, arguments).
SM90_PROBLEMS = (
    # Outputs of 32 bits that leave by boxes, in rows and in columns, and boxes of 24 columns.
    ("gemm_sm90_f16_f16_f32_f32_rrr_128x64x64_c1x1_s4_one_tile_a8x8", "136x72x600", "--mode", "gemm"),
    ("gemm_sm90_f16_f16_f32_f32_crc_64x32x64_c1x1_s6_one_tile_a8x8", "72x40x200", "--mode", "gemm"),
    ("gemm_sm90_f16_f16_f32_f16_rcr_64x48x128_c1x1_s7_one_tile_a8x8", "72x96x200", "--mode", "gemm"),
    # A whole tile that blocks of a cluster add up.
    ("gemm_sm90_f16_f16_f32_f16_rcr_64x32x128_c1x1_s4_one_tile_a8x8", "64x32x256", "--mode", "split_k_cluster", "--split-k", "2"),
    # More boxes than there are buffers.
    ("gemm_sm90_bf16_bf16_f32_bf16_crr_128x256x64_c1x2_s4_cooperative_a8x8", "128x1024x64", "--mode", "gemm",
     "--multiprocessors", "2"),
    # C through the stages of several tiles, one after another.
    ("gemm_sm90_bf16_bf16_f32_bf16_crr_128x256x64_c1x2_s4_cooperative_a8x8", "256x1024x200", "--beta", "1", "--c", "bf16:row",
     "--multiprocessors", "2"),
    ("gemm_sm90_bf16_bf16_f32_f32_rcr_128x128x64_c1x1_s6_cooperative_a8x8", "256x384x200", "--beta", "1", "--c", "f32:row",
     "--multiprocessors", "1"),
    # A tile as long as twice all stages: whoever goes on to the next one out of turn finds the same parities.
    ("gemm_sm90_bf16_bf16_f32_bf16_rcc_128x192x64_c2x1_s4_ping_pong_a8x8", "256x384x512", "--mode", "gemm",
     "--multiprocessors", "2"),
    # A tile that four blocks share and load in turns.
    ("gemm_sm90_bf16_bf16_f32_bf16_rcr_128x112x64_c4x1_s6_cooperative_a8x8", "512x112x456", "--mode", "gemm"),
    # A block without a cluster that goes on behind a slice without K tiles.
    # Tiles of an expression that follow one another, with vectors for each of them.
    ("gemm_sm90_bf16_bf16_f32_bf16_rcr_64x128x64_c1x1_s8_ping_pong_a8x8", "260x700x64", "--multiprocessors", "2",
     "--epilogue", "out = relu(sum + c) * r", "--with", "c=f32:per_column,r=f16:per_row"),
    # Biases of tiles that follow one another, in more sets than two.
    ("gemm_sm90_bf16_bf16_f32_f32_crr_128x128x64_c1x1_s6_cooperative_cp_async_a4x4", "260x400x64", "--bias", "column", "--multiprocessors", "1"),
    ("gemm_sm90_bf16_bf16_f32_f32_rcr_128x128x64_c1x1_s6_cooperative_a8x8", "128x128x256", "--mode", "split_k_parallel",
     "--split-k", "3", "--batch", "6", "--multiprocessors", "1"))

# Gates of a tile whose sums leave few registers, with an addend for each row and for each column.
SM90_GATES = ("gemm_sm90_bf16_bf16_f32_bf16_rcr_256x192x64_c1x1_s3_cooperative_a8x8",)
SM90_GATE_PROBLEMS = (("256x384x64", "--mode", "gemm", "--activation", "silu", "--bias", "row"),
                      ("256x192x64", "--mode", "gemm", "--activation", "gelu_tanh", "--bias", "column"))
SM90_PING_PONG = "gemm_sm90_bf16_bf16_f32_bf16_rcr_128x192x64_c1x1_s4_ping_pong_a8x8"
# Other stores of such tiles: an addend beside what the engine fetches, in steps of half a box; activations of f32, whole numbers, bytes.
SM90_CROWDED = (
    (SM90_GATES[0], "256x384x64", "--mode", "gemm", "--bias", "row", "--residual", "bf16:row", "--multiprocessors", "1"),
    ("gemm_sm90_bf16_bf16_f32_f32_rrr_256x192x64_c1x1_s3_cooperative_a8x8", "256x192x64", "--mode", "gemm", "--activation", "silu", "--bias", "row"),
    ("gemm_sm90_s8_s8_s32_s32_rcr_256x160x128_c1x2_s4_cooperative_a16x16", "256x320x64", "--mode", "gemm", "--activation", "relu"),
    ("gemm_sm90_s8_s8_s32_s8_rcr_256x160x128_c1x2_s4_cooperative_a16x16", "256x320x64", "--mode", "gemm", "--activation", "relu"),
    # Two tiles a warpgroup, with more boxes than buffers: what is fetched follows what is stored, in the short way and in the long one.
    (SM90_PING_PONG, "128x768x64", "--mode", "gemm", "--residual", "bf16:row", "--multiprocessors", "1"),
    (SM90_PING_PONG, "128x768x64", "--mode", "gemm", "--residual", "bf16:row", "--activation", "silu", "--multiprocessors", "1"))

# Sums of whole numbers, to outputs of 32 bits and of 8.
SM90_WHOLE = ("gemm_sm90_s8_s8_s32_s32_rcr_64x32x256_c1x1_s8_one_tile_a16x16", "gemm_sm90_s8_s8_s32_s8_rcr_128x128x128_c1x1_s6_ping_pong_a16x16")
SM90_WHOLE_PROBLEMS = (("70x48x160", "--activation", "relu", "--clamp=-3:200", "--residual", "s32:row"), ("70x48x160", "--clamp=-300:2000"))

# Groups of each form: kernels with other operands run the same schedule.
GROUPED = ("grouped_gemm_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4", "grouped_gemm_simt_s8_s8_s32_s8_ccr_64x64x64_t4x4",
           "grouped_gemm_simt_e4m3_e5m2_f32_bf16_rcr_64x64x16_t4x4_block_scales")
GROUPED_SM80 = ("grouped_gemm_sm80_bf16_bf16_f32_bf16_crr_128x128x32_w2x2x1_s4_a8x8",
                "grouped_gemm_sm80_f16_f16_f32_f32_rcr_64x64x64_w2x2x1_s3_a1x1", "grouped_gemm_sm80_s8_s8_s32_s8_rcr_64x64x64_w2x2x1_s4_a4x4")
GROUPED_SM90 = ("grouped_gemm_sm90_bf16_bf16_f32_bf16_rcr_128x128x64_c2x1_s6_ping_pong_a8x8",
                "grouped_gemm_sm90_f16_f16_f32_f32_rrr_128x256x64_c1x1_s4_cooperative_a8x8",
                "grouped_gemm_sm90_bf16_bf16_f32_bf16_crr_64x128x64_c1x1_s8_ping_pong_a8x8")
# Expressions with gated pairs, and with reductions of groups of columns: tiles of whole groups of columns.
GROUPED_WIDE = ("grouped_gemm_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4", "grouped_gemm_sm80_bf16_bf16_f32_f32_rcr_128x128x32_w2x2x1_s4_a8x8")
GROUPED_WIDE_SM90 = ("grouped_gemm_sm90_bf16_bf16_f32_bf16_rcr_128x128x64_c2x1_s6_ping_pong_a8x8",
                     "grouped_gemm_sm90_f16_f16_f32_f32_rrr_128x256x64_c1x1_s4_cooperative_a8x8")
# More groups than a warp has lanes, by ends and by counts; a group of more rows than a band.
GROUPED_SM90_PROBLEMS = (
    (GROUPED_SM90[0], "70x41x40", "--tokens", "250", "--distribution", "uniform", "--room", "300", "--outside", "zero"),
    (GROUPED_SM90[0], "70x40x40", "--tokens", "250", "--distribution", "uniform", "--sizes-are", "counts"),
    (GROUPED_SM90[2], "70x40x40", "--tokens", "700", "--distribution", "uniform", "--form", "ragged_k"),
    (GROUPED_SM90[1], "2x264x40", "--tokens", "2200", "--distribution", "one"),
    (GROUPED_SM90[0], "33x40x40", "--tokens", "90", "--distribution", "even", "--room", "120", "--outside", "zero"),
    (GROUPED_SM90[0], "4x40x40", "--sizes", "60,70,80,90", "--sizes-are", "counts", "--room", "150", "--wrong-sizes", "clamp"))
# Tiles behind whose rows those of another group follow: pairs that have an addend for each column, or for each row; and the long way.
GROUPED_SM90_CUT = tuple((GROUPED_SM90[0], "3x200x40", "--sizes", "30,100,50", "--sizes-are", "counts", *epilogue)
                         for epilogue in (("--bias", "column"), ("--bias", "row"), ("--activation", "silu")))
# Groups of columns of which the last one is cut, in the middle of a pair: its values without sums would count. Of several tiles a warpgroup.
SM90_COLUMN_GROUPS = ("gemm_sm90_bf16_bf16_f32_bf16_rcr_64x128x64_c1x1_s8_ping_pong_a8x8", "72x399x64", "--mode", "gemm", "--multiprocessors", "1",
                      "--epilogue", "z = exp((sum + v) * 0.01) + w; s = group_sum(z); out = z / s; t = row_sum(z)",
                      "--with", "v=f32:per_column,w=f32:row,s=f32:row")
# Reductions over more groups than a warp has lanes, of each form.
GROUPED_REDUCTIONS = tuple(
    (extents, *form, "--epilogue", reductions)
    for extents, form in (("33x20x8", ("--distribution", "uniform", "--tokens", "150")),
                          ("33x20x8", ("--form", "masked", "--room", "5", "--distribution", "even", "--tokens", "99")),
                          ("3x20x8", ("--form", "ragged_k", "--distribution", "uniform", "--tokens", "40")))
    for reductions in ("out = sum; r = row_sum(sum)", "out = sum; c = column_sum(sum)", "out = sum; r = row_max(sum); c = column_sum(sum); s = sum(sum)"))
LIST = ("gemm_list_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4", "gemm_list_simt_s8_s8_s32_s8_ccr_64x64x64_t4x4")
LIST_SM80 = ("gemm_list_sm80_bf16_bf16_f32_bf16_crr_128x128x32_w2x2x1_s4_a8x8", "gemm_list_sm80_f16_f16_f32_f32_rcr_64x64x64_w2x2x1_s3_a1x1")
# In clusters; of f32 in crossed layouts, which lanes store where leading dimensions are odd.
LIST_SM90 = ("gemm_list_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c2x1_s4_cooperative_a8x8", "gemm_list_sm90_f16_f16_f32_f32_crr_128x128x64_c1x1_s6_ping_pong_a8x8")
# Of gated pairs, and the second one of reductions of groups of columns, too; a row-major B that is copied in pieces.
LIST_WIDE = ("gemm_list_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4", "gemm_list_sm80_bf16_bf16_f32_f32_rcr_128x128x32_w2x2x1_s4_a8x8")
LIST_PIECES = ("gemm_list_sm80_bf16_bf16_f32_bf16_crr_128x128x32_w2x2x1_s4_a8x8",)
LIST_SM80_SCALES = ("gemm_list_sm80_s8_s8_s32_f32_rcr_64x64x128_w2x2x1_s4_a16x16_vector_scales",
                    "gemm_list_sm80_bf16_bf16_f32_f32_crr_64x64x64_w2x2x1_s4_a8x8_block_scales")
LIST_SCALES = ("gemm_list_simt_e4m3_e5m2_f32_bf16_rcr_64x64x16_t4x4_block_scales",)
LIST_SM90_SCALES = ("gemm_list_sm90_e4m3_e4m3_f32_bf16_rcr_128x128x128_c2x1_s6_cooperative_a16x16_block_scales",)
REDUCE = ("reduce_split_k_f32_f16", "reduce_split_k_s32_s8")
REORDER = ("reorder_matrix_f16", "reorder_matrix_s8")
CONV2D_WINDOWS = ("conv2d_simt_fprop_bf16_bf16_f32_bf16_64x64x16_t4x4", "conv2d_simt_wgrad_f64_f64_f64_f64_64x64x16_t4x4",
                  "conv2d_simt_fprop_s8_u8_s32_s8_64x64x32_t4x4", "conv2d_simt_wgrad_s8_s8_s32_s32_64x64x32_t4x4")
CONV2D_TURNED = ("conv2d_simt_dgrad_f32_f32_f32_f32_64x64x16_t4x4", "conv2d_simt_dgrad_u8_u8_s32_s32_64x64x32_t4x4")
CONV2D = CONV2D_WINDOWS + CONV2D_TURNED
# Windows in pieces of 16, 8, 4 and 2 bytes; tiles with fewer lines than threads copy at a time; lines along K and along M or N; a rounding of operands, bytes.
CONV2D_SM80_WGRAD = ("conv2d_sm80_wgrad_f16_f16_f32_f16_64x64x64_w2x2x1_s4_analytic_a8x8",
                     "conv2d_sm80_wgrad_bf16_bf16_f32_bf16_64x32x32_w2x1x1_s4_analytic_a8x1")
CONV2D_SM80_STRIDED = ("conv2d_sm80_dgrad_bf16_bf16_f32_bf16_64x64x32_w2x2x1_s4_analytic_strided_a4x4",
                       "conv2d_sm80_dgrad_f16_f16_f32_f16_64x64x32_w2x2x1_s4_optimized_strided_a8x8")
CONV2D_SM80 = ("conv2d_sm80_fprop_bf16_bf16_f32_bf16_64x64x32_w2x2x1_s4_analytic_a4x4",
               "conv2d_sm80_dgrad_f16_f16_f32_f16_64x64x32_w2x2x1_s4_analytic_a1x1",
               "conv2d_sm80_fprop_f16_f16_f32_f16_64x64x32_w2x2x1_s4_few_channels_a1x1",
               "conv2d_sm80_fprop_bf16_bf16_f32_bf16_128x16x32_w4x1x1_s4_analytic_a8x8",
               "conv2d_sm80_dgrad_f16_f16_f32_f16_128x16x32_w4x1x1_s4_analytic_a8x1",
               "conv2d_sm80_dgrad_f32_f32_f32_f32_64x64x32_w2x2x1_s3_analytic_fast_tf32_a4x4",
               "conv2d_sm80_fprop_s8_s8_s32_s8_64x64x64_w2x2x1_s4_analytic_a16x16",
               "conv2d_sm80_fprop_bf16_bf16_f32_bf16_64x64x32_w2x2x1_s4_fixed_channels_a2x2",
               "conv2d_sm80_fprop_bf16_bf16_f32_bf16_64x64x64_w2x2x1_s4_analytic_one_a8x8")
CONV2D_SM80 += CONV2D_SM80_WGRAD + CONV2D_SM80_STRIDED
# Patches of pixels; and blocks that have more than one tile.
CONV2D_SM80_PATCHES = ("conv2d_sm80_fprop_bf16_bf16_f32_bf16_128x32x32_w4x1x1_s8_window_a1x1",
                       "conv2d_sm80_fprop_f16_f16_f32_f16_128x64x32_w4x1x1_s2_window_a1x1")
# The same of wgrad: warps along N, and along K.
CONV2D_SM80_GRADIENTS = ("conv2d_sm80_wgrad_f16_f16_f32_f16_64x32x128_w1x1x4_s1_window_a8x1",
                         "conv2d_sm80_wgrad_bf16_bf16_f32_bf16_64x160x128_w1x5x1_s1_window_a8x1")
# Windows by the copy engine: parts that blocks of a cluster share, slices of a cluster, filters in both orders, lines of 64 and 32 channels.
CONV2D_SM90 = ("conv2d_sm90_fprop_bf16_bf16_f32_bf16_128x128x64_c2x1_s6_ping_pong", "conv2d_sm90_dgrad_f16_f16_f32_f16_128x64x64_c1x1_s4_one_tile",
               "conv2d_sm90_wgrad_bf16_bf16_f32_f32_128x128x64_c2x1_s6_ping_pong", "conv2d_sm90_wgrad_f16_f16_f32_f16_64x96x64_c1x1_s8_one_tile")
CONV2D_SM90_STRIDED = ("conv2d_sm90_dgrad_f16_f16_f32_f16_64x64x64_c1x1_s6_one_tile_strided",
                       "conv2d_sm90_dgrad_bf16_bf16_f32_f32_128x128x64_c2x1_s6_ping_pong_strided")
# Each is a gradient of filters whose slices of K have two lengths, several of them a block: (kernel, arguments).
LONG_SLICES = (("conv2d_sm90_wgrad_bf16_bf16_f32_bf16_64x128x64_c1x1_s8_ping_pong", "7x7x9x64", "64x3x3", "--padding", "1",
                "--mode", "split_k_parallel", "--split-k", "3", "--multiprocessors", "6"),
               (CONV2D_SM90[2], "7x7x9x64", "256x3x3", "--padding", "1", "--mode", "split_k_parallel", "--split-k", "3", "--multiprocessors", "12"))
# What mistakes on one path alone are looked for in: mutation/planted/.
SM80_PATHS = SM80_FIRST[:1] + SM80_REST[3:5] + SM80_REST[6:7] + SM80_F64[:1] + SM80_BYTES[:1]
STREAM_PATHS = SM80_STREAM
# Promoted sums; scales by vectors and by blocks; zero points; and the scales of groups by the copy engine.
SIMT_PRECISE = ("gemm_simt_e4m3_e4m3_f32_f16_rcr_64x64x16_t4x4_block_scales",)
SIMT_ZEROS = ("gemm_simt_f16_u8_f32_f16_rcr_64x64x16_t4x4_zero_points", "gemm_simt_f16_u8_f32_f32_crr_64x64x16_t4x4_zero_points")
SM80_SCALES = ("gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x4x1_s4_a8x8_vector_scales",
               "gemm_sm80_f16_f16_f32_f16_rcr_64x64x64_w2x2x1_s4_a8x8_block_scales",
               "gemm_sm80_f16_f16_f32_f16_rrr_64x64x64_w2x2x1_s4_a8x8_block_scales")
GROUPED_SM90_SCALES = ("grouped_gemm_sm90_e4m3_e4m3_f32_bf16_rcr_256x128x128_c1x2_s4_cooperative_a16x16_block_scales",
                       "grouped_gemm_sm90_e4m3_e4m3_f32_bf16_rcr_128x160x128_c2x1_s5_cooperative_a16x16_block_scales")
# Expressions with reductions and gated pairs: tiles of whole groups of columns, and others.
WIDE_SM80 = ("gemm_sm80_f16_f16_f32_f16_rcr_128x128x64_w2x2x1_s2_a8x8", "gemm_sm80_f16_f16_f32_f16_rcr_32x32x64_w1x1x2_s4_a8x8",
             "gemm_sm80_f64_f64_f64_f64_crr_64x64x16_w2x2x1_s3_a2x2", "gemm_simt_s8_u8_s32_s32_rcr_64x64x64_t4x4",
             "gemm_simt_f32_f32_f32_f32_rcr_128x128x8_t8x8") + SM80_STREAM[:1]
WIDE_SM90 = SM90_FIRST + SM90_REST[2:4] + SM90_THREADS[1:]
ELEMENTWISE = ("elementwise_v1_u1", "elementwise_v1_u4", "elementwise_v2_u2", "elementwise_v4_u1", "elementwise_v8_u4", "elementwise_v16_u2")
SM90_PATHS = SM90_FIRST + SM90_REST + SM90_THREADS

# What kernels of gemm_sm90 use whose operands the copy engine brings.
SM90_BY_ENGINE = rf"{SM90}/(?!thread_producer|long_slice_list).*"

SM80_SOURCES = rf"kernels/gemm_sm80/.*|kernels/layout/.*|{COMMON}"

SM80_OPERANDS = r"kernels/gemm_sm80/.*|kernels/common/(operand_tile|operand_copy|warp_fragments)\.cuh|kernels/layout/.*"

# What is cheap and catches most comes first. Kernels are run on each of their paths, and on mixed problems, unless told otherwise.
STAGES = [
    Stage(STREAM, SM80_STREAM),
    Stage(SM80_SOURCES, SM80_FIRST),
    Stage(r"kernels/gemm_simt/(pipeline|word_source|kernel)\.cuh", SIMT_STAGES),
    Stage(r"kernels/gemm_simt/(pipeline|vector_source|kernel)\.cuh", SIMT_VECTORS),
    Stage(r"kernels/gemm_simt/.*", SIMT),
    Stage(r"kernels/gemm_simt/operand_loader\.cuh", SIMT_ZEROS),
    Stage(r"kernels/gemm_narrow_sm80/direct\.cuh", NARROW_DIRECT, ("9x40x1120", "--b-scale", "1x128")),  # K ends within a piece, and some warps have none
    Stage(r"kernels/gemm_narrow_sm80/direct\.cuh", NARROW_DIRECT),
    Stage(r"kernels/gemm_narrow_sm80/(?!direct).*", NARROW_SM80),
    Stage(r"kernels/gemm_narrow_sm80/(copies|sums)\.cuh", NARROW_SM80[:1], ("20x64x160", "--a-scale", "1x32", "--b-scale", "1x32")),  # K ends with a group
    Stage(r"kernels/gemm_narrow_sm80/zeros\.cuh", NARROW_SM80[4:], ("20x64x160", "--b-scale", "1x32", "--b-zero", "u8")),
    Stage(r"kernels/reduce_split_k/.*", REDUCE),
    Stage(r"kernels/reorder_matrix/.*", ("--where", "family == 'reorder_matrix'")),
    Stage(r"kernels/reorder_matrix/turn_pieces\.cuh", REORDER[1:], ("256x128", "--from", "row", "--to", "col", "--no-conflicts")),
    Stage(r"kernels/grouped_gemm(_simt)?/.*", GROUPED),
    Stage(r"kernels/grouped_gemm(_sm80)?/.*", GROUPED_SM80),
    Stage(r"kernels/grouped_gemm(_sm90)?/.*", GROUPED_SM90),
    Stage(rf"{SM90}/(expression|wide_store)\.cuh", GROUPED_WIDE_SM90),
    Stage(rf"{SM90}/(box_values|tile_store_unrolled)\.cuh", GROUPED_SM90),
    # A warpgroup without a row goes through many stages.
    Stage(rf"{SM90}/kernel\.cuh", GROUPED_SM90[1:2], ("8x200x3000", "--sizes", "50,50,50,50,1,2,3,4", "--sizes-are", "counts")),
    Stage(rf"{SM90}/kernel\.cuh", GROUPED_SM90[1:2], ("8x200x6000", "--sizes", "50,50,50,50,1,2,3,4", "--sizes-are", "counts", "--copies", "early")),
    Stage(rf"{SM90}/kernel\.cuh", GROUPED_SM90[1:2]),
    Stage(rf"{SM90}/wide_store\.cuh", LIST_SM90),
    Stage(rf"{SM90}/(wide_store|expression_vectors)\.cuh", SM90_COLUMN_GROUPS[:1], SM90_COLUMN_GROUPS[1:]),
    # A tile of two groups, of which the second one does not exist.
    Stage(rf"{SM90}/wide_store\.cuh", ("gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c1x1_s4_cooperative_a8x8",),
          ("72x128x64", "--mode", "gemm", "--epilogue", "s = group_max(sum); out = sum * s", "--with", "s=f32:row")),
    Stage(r"kernels/gemm_list(_simt)?/.*", LIST),
    Stage(r"kernels/gemm_list_simt/.*", LIST_SCALES),
    Stage(r"kernels/gemm_list(_sm80)?/.*", LIST_SM80),
    Stage(r"kernels/gemm_list_sm80/.*", LIST_SM80_SCALES),
    Stage(r"kernels/gemm_list(_sm90)?/.*", LIST_SM90),
    Stage(r"kernels/gemm_list_sm90/.*", LIST_SM90_SCALES),
    # A single row of the output, whose distance from the next is no multiple of 16 bytes.
    Stage(r"kernels/gemm_list_sm90/maps\.cuh", LIST_SM90[:1],
          ("1x64x64,64x64x64", "--out", "bf16:row:ld=72", "--leading", "64:64:65:65,64:64:72:72")),
    Stage(rf"{SM90}/(tile_store|source_boxes|box_ring|step|step_chain|expression|work_matrices|handed_list)\.cuh", LIST_SM90),
    Stage(r"kernels/conv2d(_simt)?/.*", CONV2D),
    Stage(r"kernels/conv2d/phase\.cuh", CONV2D_SM80_STRIDED),
    Stage(r"kernels/conv2d/phase\.cuh", CONV2D_SM80_STRIDED[:1], ("1x9x7x16", "1024x3x3", "--stride", "2x3", "--padding", "1")),
    Stage(r"kernels/conv2d_sm80/(?!window).*", CONV2D_SM80),
    Stage(r"kernels/conv2d_sm80/(window(?!_gradient).*|kernel\.cuh)", CONV2D_SM80_PATCHES),
    Stage(r"kernels/conv2d_sm80/(window_gradient|kernel)\.cuh", CONV2D_SM80_GRADIENTS),
    # Patches that are as large as there is room, so that tiles have fewer outputs.
    Stage(r"kernels/conv2d_sm80/window_gradient\.cuh", CONV2D_SM80_GRADIENTS[1:], ("1x96x3x64", "8x3x3", "--stride", "3")),
    Stage(r"kernels/conv2d_sm80/(window(?!_gradient).*|kernel\.cuh)", CONV2D_SM80_PATCHES[1:], ("3x9x9x128", "128x2x2", "--groups", "128")),
    Stage(r"kernels/conv2d_sm80/window\.cuh", CONV2D_SM80_PATCHES[1:], ("1x9x19x8", "64x2x4")),  # K as long as there is room
    Stage(r"kernels/conv2d_sm90/(?!phase_).*", CONV2D_SM90),
    Stage(r"kernels/conv2d_sm90/(phase_.*|kernel\.cuh)", CONV2D_SM90_STRIDED),
    Stage(r"kernels/conv2d_sm90/phase_.*", CONV2D_SM90_STRIDED[:1], ("1x9x7x16", "1024x3x3", "--stride", "2x3", "--padding", "1")),
    Stage(rf"{SM90}/(box_lanes|step|tile_store|tile_store_unrolled)\.cuh", CONV2D_SM90_STRIDED),
    Stage(r"kernels/(gemm_simt|gemm)/.*", SIMT_SCALES),
    Stage(r"kernels/(gemm_simt|gemm)/.*|kernels/common/element_pointer\.cuh", SIMT_GROUPS),
    Stage(r"kernels/gemm_simt/kernel\.cuh", GROUPED[2:]),
    Stage(rf"{SM90}/(lane_weights|row_values|warp_columns|weight_zeros|weights|k_groups|pipeline)\.cuh", SM90_WEIGHTS),
    # Groups of which warpgroups that share K tiles leave out some: of 32, and with zero points of 128.
    Stage(rf"{SM90}/(row_values|weights|pipeline|kernel)\.cuh", SM90_WEIGHTS[:1],
          ("8x64x3584", "--b-scale", "1x32", "--mode", "gemm", "--residual", "bf16:row")),
    # K ends with a group, in the middle of a tile.
    Stage(rf"{SM90}/weights\.cuh", SM90_WEIGHTS[:1], ("20x64x384", "--a-scale", "1x32", "--b-scale", "1x32", "--mode", "gemm")),
    # Slices that warpgroups share, and blocks of a cluster add up.
    Stage(rf"{SM90}/kernel\.cuh", SM90_WEIGHTS[2:3],
          ("20x64x2304", "--b-scale", "1x128", "--b-zero", "u8", "--mode", "split_k_cluster", "--split-k", "2")),
    Stage(rf"{SM90}/weight(s|_zeros)\.cuh", SM90_WEIGHTS[2:3], ("20x64x2304", "--b-scale", "1x128", "--b-zero", "u8", "--mode", "gemm")),
    Stage(rf"{SM90}/(scales|promotion|promotion_ahead|block_sums|vector_ring|kernel|pipeline|mainloop|multiply|shape|bias|thread_producer|expression)\.cuh", SM90_SCALES),
    Stage(rf"{SM90}/promotion_ahead\.cuh", SM90_SCALES[6:], SM90_SCALE_ROUNDS),
    Stage(rf"{SM90}/(promotion|pipeline)\.cuh", SM90_COLUMN_SCALES[:1], SM90_COLUMN_SCALES[1:]),
    # Columns that are no multiple of a warp's lanes.
    Stage(rf"{SM90}/scales\.cuh", ("gemm_sm90_e4m3_e4m3_f32_bf16_rcr_64x112x128_c2x1_s9_one_tile_a16x16_block_scales",),
          ("64x224x2048", *SM90_COLUMN_SCALES[2:])),
    Stage(rf"{SM90}/(kernel|scales|tensor_producer)\.cuh", SM90_GATED_SCALES[:1], SM90_GATED_SCALES[1:]),
    Stage(rf"{SM90}/expression\.cuh", SM90_SCALES[4:5], ("70x128x256", "--a-scale", "1x128", "--b-scale", "128x128", "--epilogue", "out = relu(sum)")),
    Stage(SM80_SOURCES, SM80_NO_CONFLICTS, ("--problems", "4", "--no-conflicts")),
    Stage(r"kernels/gemm_simt/.*", SIMT_NO_CONFLICTS, ("--problems", "4", "--no-conflicts")),
    Stage(SM80_SOURCES, SM80_REST),
    Stage(SM80_OPERANDS, SM80_MATH + SM80_F64 + SM80_BYTES),
    Stage(SM80_OPERANDS, SM80_MATH + SM80_BYTES, ("--problems", "4", "--no-conflicts")),
    Stage(COMMON, SIMT[1:3]),
    Stage(r"kernels/(gemm_sm80/kernel|common/tile_(scheduler|writer))\.cuh", SM80_STREAM[:1]),
    Stage(rf"{SM90}/(kernel|pipeline|shape|tensor_producer|work_list)\.cuh", SM90_FIRST[1:]),
    Stage(rf"{SM90}/(kernel|pipeline|thread_producer)\.cuh", SM90_THREADS),
    *(Stage(rf"{SM90}/long_slice_list\.cuh", (kernel,), tuple(problem)) for kernel, *problem in LONG_SLICES),
    Stage(rf"{SM90}/long_slice_list\.cuh", CONV2D_SM90[2:3]),
    Stage(SM90_BY_ENGINE, SM90_FIRST[:1]),
    Stage(SM90_BY_ENGINE, SM90_REST),
    # Partial sums of lines that end within a pair.
    Stage(rf"{SM90}/step\.cuh", SM90_FIRST[:1], ("70x41x520", "--mode", "split_k_parallel", "--split-k", "2")),
    *(Stage(rf"{SM90}/step_chain\.cuh", SM90_WHOLE[:1], problem) for problem in SM90_WHOLE_PROBLEMS),
    Stage(rf"{SM90}/(step_chain|step_sums|sums|tile_store|tile_store_unrolled|box_values|box_lanes|addends)\.cuh", SM90_WHOLE),
    *(Stage(rf"{SM90}/(gates|tile_store)\.cuh", SM90_GATES, problem) for problem in SM90_GATE_PROBLEMS),
    *(Stage(rf"{SM90}/tile_store\.cuh", (kernel,), tuple(problem)) for kernel, *problem in SM90_CROWDED + GROUPED_SM90_CUT),
    *(Stage(r"kernels/grouped_gemm_sm90/.*", (kernel,), tuple(problem)) for kernel, *problem in GROUPED_SM90_PROBLEMS),
    *(Stage(SM90_BY_ENGINE, (kernel,), tuple(problem)) for kernel, *problem in SM90_PROBLEMS),
    *(Stage(r"kernels/grouped_gemm/reductions\.cuh", GROUPED[:1], problem) for problem in GROUPED_REDUCTIONS),
    Stage(r"kernels/grouped_gemm_sm90/(kernel|sources)\.cuh", GROUPED_SM90_SCALES),
    # A list that the warp walks which copies, and hands over to those that multiply.
    Stage(rf"{SM90}/tensor_producer\.cuh", LIST_SM90[:1], ("200x300x200,3x270x130",)),
]


NO_FAMILIES = ("arch", "common", "layout")


def family_stage(family):
    """All kernels of a family, for one that has few and no stage of its own."""
    return Stage(rf"kernels/{family}/.*", ("--where", f"family == '{family}'"))


def stages_for(paths):
    """The stages for a mutant that changes these files; all of STAGES where nothing else is known of them."""
    named = [s for s in STAGES if any(re.fullmatch(s.sources, path) for path in paths)]
    unnamed = [path for path in paths if not any(re.fullmatch(s.sources, path) for s in STAGES)]
    families = sorted({path.split("/")[1] for path in unnamed if path.count("/") > 1} - {*NO_FAMILIES})
    return named + [family_stage(family) for family in families] or STAGES
