/// The probes as entries, compiled for each side: by nvcc for the GPU, by the host compiler for the emulator.
#include "tests/kernels/arch/probes/barrier.cuh"
#include "tests/kernels/arch/probes/copy_async.cuh"
#include "tests/kernels/arch/probes/index.cuh"
#include "tests/kernels/arch/probes/matrix.cuh"
#include "tests/kernels/arch/probes/memory.cuh"
#include "tests/kernels/arch/probes/number.cuh"
#include "tests/kernels/arch/probes/warp.cuh"

namespace probes = quarry::probes;

QUARRY_ENTRY(probe_indices, probes::ProbeParams, probes::indices, probes::usual)

QUARRY_ENTRY(probe_shared_memory, probes::ProbeParams, probes::shared_memory, probes::usual)
QUARRY_ENTRY(probe_shared_words, probes::ProbeParams, probes::shared_words, probes::usual)
QUARRY_ENTRY(probe_global_words, probes::ProbeParams, probes::global_words, probes::usual)

QUARRY_ENTRY(probe_shared_bytes, probes::ProbeParams, probes::shared_bytes, probes::usual)
QUARRY_ENTRY(probe_global_bytes, probes::ProbeParams, probes::global_bytes, probes::usual)

QUARRY_ENTRY(probe_copy_async, probes::ProbeParams, probes::copy_async, probes::usual)
QUARRY_ENTRY(probe_copy_async_or_zero, probes::ProbeParams, probes::copy_async_or_zero, probes::usual)
QUARRY_ENTRY(probe_copy_async_groups, probes::ProbeParams, probes::copy_async_groups, probes::usual)

QUARRY_ENTRY(probe_block_barrier, probes::ProbeParams, probes::block_barrier, probes::usual)
QUARRY_ENTRY(probe_named_barrier, probes::ProbeParams, probes::named_barrier, probes::usual)
QUARRY_ENTRY(probe_named_barrier_arrive, probes::ProbeParams, probes::named_barrier_arrive, probes::usual)
QUARRY_ENTRY(probe_warp_barrier, probes::ProbeParams, probes::warp_barrier, probes::usual)
QUARRY_ENTRY(probe_lanes, probes::ProbeParams, probes::lanes, probes::usual)
QUARRY_ENTRY(probe_fetch_add, probes::ProbeParams, probes::fetch_add, probes::usual)
QUARRY_ENTRY(probe_acquire_release, probes::ProbeParams, probes::acquire_release, probes::usual)

QUARRY_ENTRY(probe_load_matrix_x4, probes::ProbeParams, probes::load_matrix_x4, probes::usual)
QUARRY_ENTRY(probe_load_matrix_x4_transposed, probes::ProbeParams, probes::load_matrix_x4_transposed,
             probes::usual)
QUARRY_ENTRY(probe_mma_f16_f32, probes::ProbeParams, probes::mma_f16_f32, probes::usual)
QUARRY_ENTRY(probe_mma_bf16_f32, probes::ProbeParams, probes::mma_bf16_f32, probes::usual)
QUARRY_ENTRY(probe_mma_f16_f16, probes::ProbeParams, probes::mma_f16_f16, probes::usual)
QUARRY_ENTRY(probe_mma_tf32_f32, probes::ProbeParams, probes::mma_tf32_f32, probes::usual)
QUARRY_ENTRY(probe_mma_k8_f16_f32, probes::ProbeParams, probes::mma_k8_f16_f32, probes::usual)
QUARRY_ENTRY(probe_mma_k8_bf16_f32, probes::ProbeParams, probes::mma_k8_bf16_f32, probes::usual)
QUARRY_ENTRY(probe_mma_k8_f16_f16, probes::ProbeParams, probes::mma_k8_f16_f16, probes::usual)
QUARRY_ENTRY(probe_mma_s8_s8, probes::ProbeParams, probes::mma_s8_s8, probes::usual)
QUARRY_ENTRY(probe_mma_s8_u8, probes::ProbeParams, probes::mma_s8_u8, probes::usual)
QUARRY_ENTRY(probe_mma_u8_s8, probes::ProbeParams, probes::mma_u8_s8, probes::usual)
QUARRY_ENTRY(probe_mma_u8_u8, probes::ProbeParams, probes::mma_u8_u8, probes::usual)
QUARRY_ENTRY(probe_mma_f64, probes::ProbeParams, probes::mma_f64, probes::usual)
QUARRY_ENTRY(probe_row_pair, probes::ProbeParams, probes::row_pair, probes::usual)

QUARRY_ENTRY(probe_f32_of_f16, probes::ProbeParams, probes::f32_of_f16, probes::usual)
QUARRY_ENTRY(probe_f32_of_bf16, probes::ProbeParams, probes::f32_of_bf16, probes::usual)
QUARRY_ENTRY(probe_f16_of_f32, probes::ProbeParams, probes::f16_of_f32, probes::usual)
QUARRY_ENTRY(probe_bf16_of_f32, probes::ProbeParams, probes::bf16_of_f32, probes::usual)
QUARRY_ENTRY(probe_pair_of_f16, probes::ProbeParams, probes::pair_of_f16, probes::usual)
QUARRY_ENTRY(probe_pair_of_bf16, probes::ProbeParams, probes::pair_of_bf16, probes::usual)
QUARRY_ENTRY(probe_f16_of_s8, probes::ProbeParams, probes::f16_of_s8, probes::usual)
QUARRY_ENTRY(probe_f16_of_u8, probes::ProbeParams, probes::f16_of_u8, probes::usual)
QUARRY_ENTRY(probe_bf16_of_s8, probes::ProbeParams, probes::bf16_of_s8, probes::usual)
QUARRY_ENTRY(probe_bf16_of_u8, probes::ProbeParams, probes::bf16_of_u8, probes::usual)
QUARRY_ENTRY(probe_f16_of_s4, probes::ProbeParams, probes::f16_of_s4, probes::usual)
QUARRY_ENTRY(probe_f16_of_u4, probes::ProbeParams, probes::f16_of_u4, probes::usual)
QUARRY_ENTRY(probe_bf16_of_s4, probes::ProbeParams, probes::bf16_of_s4, probes::usual)
QUARRY_ENTRY(probe_bf16_of_u4, probes::ProbeParams, probes::bf16_of_u4, probes::usual)
QUARRY_ENTRY(probe_tf32_of_f32, probes::ProbeParams, probes::tf32_of_f32, probes::usual)
QUARRY_ENTRY(probe_pair_of_e4m3, probes::ProbeParams, probes::pair_of_e4m3, probes::usual)
QUARRY_ENTRY(probe_pair_of_e5m2, probes::ProbeParams, probes::pair_of_e5m2, probes::usual)
QUARRY_ENTRY(probe_s8_of_f32, probes::ProbeParams, probes::s8_of_f32, probes::usual)
QUARRY_ENTRY(probe_u8_of_f32, probes::ProbeParams, probes::u8_of_f32, probes::usual)
QUARRY_ENTRY(probe_dot4_s8_s8, probes::ProbeParams, probes::dot4_s8_s8, probes::usual)
QUARRY_ENTRY(probe_dot4_s8_u8, probes::ProbeParams, probes::dot4_s8_u8, probes::usual)
QUARRY_ENTRY(probe_dot4_u8_s8, probes::ProbeParams, probes::dot4_u8_s8, probes::usual)
QUARRY_ENTRY(probe_dot4_u8_u8, probes::ProbeParams, probes::dot4_u8_u8, probes::usual)
QUARRY_ENTRY(probe_fma_f32, probes::ProbeParams, probes::fma_f32, probes::usual)
QUARRY_ENTRY(probe_fma_f64, probes::ProbeParams, probes::fma_f64, probes::usual)
QUARRY_ENTRY(probe_pinned_fma, probes::ProbeParams, probes::pinned_fma, probes::usual)
QUARRY_ENTRY(probe_fma_saturated, probes::ProbeParams, probes::fma_saturated, probes::usual)
QUARRY_ENTRY(probe_minimum, probes::ProbeParams, probes::minimum, probes::usual)
QUARRY_ENTRY(probe_maximum, probes::ProbeParams, probes::maximum, probes::usual)
QUARRY_ENTRY(probe_opaque, probes::ProbeParams, probes::opaque, probes::usual)
QUARRY_ENTRY(probe_tanh_approximate, probes::ProbeParams, probes::tanh_approximate, probes::usual)
QUARRY_ENTRY(probe_exp2_approximate, probes::ProbeParams, probes::exp2_approximate, probes::usual)
QUARRY_ENTRY(probe_reciprocal_approximate, probes::ProbeParams, probes::reciprocal_approximate, probes::usual)
QUARRY_ENTRY(probe_exp_f64, probes::ProbeParams, probes::exp_f64, probes::usual)
QUARRY_ENTRY(probe_tanh_f64, probes::ProbeParams, probes::tanh_f64, probes::usual)
QUARRY_ENTRY(probe_erfc_f64, probes::ProbeParams, probes::erfc_f64, probes::usual)
QUARRY_ENTRY(probe_s32_of_f32, probes::ProbeParams, probes::s32_of_f32, probes::usual)
QUARRY_ENTRY(probe_s32_of_f64, probes::ProbeParams, probes::s32_of_f64, probes::usual)
QUARRY_ENTRY(probe_log_f32, probes::ProbeParams, probes::log_f32, probes::usual)
QUARRY_ENTRY(probe_log_f64, probes::ProbeParams, probes::log_f64, probes::usual)
QUARRY_ENTRY(probe_square_root_f32, probes::ProbeParams, probes::square_root_f32, probes::usual)
QUARRY_ENTRY(probe_square_root_f64, probes::ProbeParams, probes::square_root_f64, probes::usual)
QUARRY_ENTRY(probe_erf_f32, probes::ProbeParams, probes::erf_f32, probes::usual)
QUARRY_ENTRY(probe_erf_f64, probes::ProbeParams, probes::erf_f64, probes::usual)
