"""In how gemm_sm90 stores the sums of a tile, and families that store them so."""

from mutation.kernels import GROUPED_SM90, SM90_PATHS
from mutation.planted.mistake import Planted, on_paths

TILE_STORE = "kernels/gemm_sm90/tile_store.cuh"
UNROLLED = "kernels/gemm_sm90/tile_store_unrolled.cuh"
SOURCE_BOXES = "kernels/gemm_sm90/source_boxes.cuh"
STEP_CHAIN = "kernels/gemm_sm90/step_chain.cuh"
GATES = "kernels/gemm_sm90/gates.cuh"
BOX_LANES = "kernels/gemm_sm90/box_lanes.cuh"
BOX_RING = "kernels/gemm_sm90/box_ring.cuh"
CLUSTER_SUM = "kernels/gemm_sm90/cluster_sum.cuh"
BIAS = "kernels/gemm_sm90/bias.cuh"
CONFIG = "kernels/gemm_sm90/config.hpp"

STORES = SM90_PATHS + GROUPED_SM90

# What the copy engine has fetched, in the ways of the epilogue that are common.
FETCHED_IS_NOT_ADDED = [(TILE_STORE, "add_values<box, Out>(x, factor, given, i * columns, lane);", "add_values<box, Out>(x, 0 * factor, given, i * columns, lane);"),
                        (UNROLLED, "add_values<box, Out>(x, factor, wait_for", "add_values<box, Out>(x, 0 * factor, wait_for")]
BIAS_IS_NOT_READ = [(BIAS, "if (first + i < extent) {", "if (first + i < extent - extent) {")]
NO_ACTIVATION = [(TILE_STORE, "if (epilogue().activation != Activation::identity) activate_step<config>(epilogue(), step, x);", ""),
                 (TILE_STORE, "gate_doubles(x.v, slope);", ""), (TILE_STORE, "activate_otherwise(x.v);", ""), (GATES, "gate_doubles(x.v, slope);", ""),
                 (TILE_STORE, "activate_roughly<true>(e.activation, e.leaky_slope, x.v);", ""),
                 (TILE_STORE, "activate_box<box>(e.activation, e.leaky_slope, buffer, i * columns, columns, lane);", ";")]
C_IS_NOT_ADDED = [(TILE_STORE, "step.add(x, factor);", "step.add(x, 0 * factor);"), *FETCHED_IS_NOT_ADDED]
RESIDUAL_IS_NOT_ADDED = [(STEP_CHAIN, "step.read(step.beside(e.residual));\n    step.add(x, 1);", "step.read(step.beside(e.residual));\n    step.add(x, 0);"), *FETCHED_IS_NOT_ADDED]
AUX_IS_NOT_WRITTEN = [(TILE_STORE, "step.write(step.beside(e.aux));", "")]
NO_CLAMP = [(STEP_CHAIN, "if (e.clamps) {", "if (false) {")]
WITHOUT_SUMS = [(TILE_STORE, "return alpha_ == 0 ? 0 : v;", "return alpha_ == 0 ? 1 : v;")]
NO_PARTIAL_SUMS = [(TILE_STORE, "step.write_dense(partial_output(step.work), line, left);", ""),
                   (TILE_STORE, "step.write_dense(partial_output(step.work), line, x);", "")]
OWN_SUMS_ONLY = [(CLUSTER_SUM, "Vector<float, 4>>(at, block)", "Vector<float, 4>>(at, arch::cluster_rank())")]

# Their clusters have rows and columns.
SQUARE_CLUSTERS = ("gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c2x2_s4_cooperative_a8x8", "gemm_sm90_bf16_bf16_f32_bf16_rcr_256x128x64_c2x2_s4_cooperative_exchanged_a8x8",
                   "gemm_sm90_bf16_bf16_f32_f32_rcr_128x256x64_c2x2_s4_cooperative_a8x8", "gemm_sm90_f16_f16_f32_f16_rrr_128x256x64_c2x2_s4_cooperative_a8x8",
                   "gemm_sm90_f16_f16_f32_f16_ccr_128x256x64_c2x2_s4_cooperative_a8x8", "gemm_sm90_f16_f16_f16_f16_rcr_256x128x64_c2x2_s4_cooperative_exchanged_a8x8")

PLANTED = [
    # The tile store of gemm_sm90.
    Planted("plain", "a plain tile is not stored", STORES,
            [(TILE_STORE, "      store_short<false>(sums, work, lane);", "      if (added() != Added::nothing) store_short<false>(sums, work, lane);")]),
    *on_paths(("bias_row", "bias_column"), "the bias is not read", STORES, BIAS_IS_NOT_READ),
    Planted("activation", "the activation is left out", STORES, NO_ACTIVATION),
    Planted("c", "C is read and not added", STORES, C_IS_NOT_ADDED),
    Planted("residual", "the residual is read and not added", STORES, RESIDUAL_IS_NOT_ADDED),
    Planted("aux", "aux is not written", STORES, AUX_IS_NOT_WRITTEN),
    Planted("clamp", "outputs are not clamped", STORES, NO_CLAMP),
    Planted("everything", "outputs are not clamped", STORES, NO_CLAMP),
    Planted("unaligned_out", "lanes do not store the output", STORES,
            [(TILE_STORE, "if (!stores_box(step.work, number / box_steps)) step.write(Matrices::out(params(), step.work));", "")]),
    Planted("unaligned_c", "lanes do not read C", STORES, [(TILE_STORE, "if (params().fetched != Fetched::c) step.read(Matrices::c(params(), step.work));", "")]),
    Planted("words", "words are not moved", STORES, [(BOX_LANES, "move_accesses<part, 4, to_global>(buffer, first_column, place);", "")]),
    Planted("split_k_parallel", "partial sums are not stored", SM90_PATHS, NO_PARTIAL_SUMS),
    Planted("split_k_cluster", "each block reads its own sums only", SM90_PATHS,
            OWN_SUMS_ONLY),
    Planted("batch", "boxes of all batch entries go to the first", SM90_PATHS,
            [(BOX_RING, "arch::tensor_store(out, x(at), y(at), at.batch,", "arch::tensor_store(out, x(at), y(at), 0,")]),
    Planted("shared_c", "a shared C is looked for in every batch entry", SM90_PATHS, [(SOURCE_BOXES, "if (source.batch_stride == 0) at.batch = 0;", "")]),
    Planted("queue", "C comes through stages that other blocks release, too", SQUARE_CLUSTERS, [(CONFIG, "(c.cluster.m == 1 || c.cluster.n == 1) && ", "")]),
    Planted("alpha_0", "with alpha 0 the sums are 1", STORES, WITHOUT_SUMS),
]
