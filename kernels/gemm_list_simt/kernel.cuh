/// A list of GEMMs with plain fused multiply-add, or for bytes dot products of four: blocks walk over the
/// tiles of all problems, and compute each as gemm_simt does.
#pragma once

#include "gemm_list/pairs.cuh"
#include "gemm_list/schedule.cuh"
#include "gemm_list_simt/config.hpp"
#include "gemm_simt/kernel.cuh"

namespace quarry::gemm_list_simt {

/// Multiplies and writes a tile of a problem. @tparam Params GemmListParams, with an expression or without
template <gemm_simt::Config config, class Epilogue, class Params>
QUARRY_DEVICE void compute(const Params& params, const ListWork& work, arch::SharedAddress memory) {
  using S = gemm_simt::Shape<config>;
  const int thread_row = arch::thread_index() / S::threads_n;
  const int thread_column = arch::thread_index() % S::threads_n;
  gemm_simt::Sums<config> sums;
  if (work.k_tiles > 0) {
    const ListOperands operands = operands_of(params, work, {1, 1});
    const OperandPart a = part_of_a(operands.a, work, config.tile);
    if constexpr (has_halves<Epilogue>()) {
      const OperandPart b = gated_part_of_b(operands.b, work, config.tile);
      const int k_left = work.k();
      gemm_simt::mainloop<config>(typename S::LoaderA(a, k_left), typename S::GatedLoaderB(b, k_left),
                                  work.k_tiles, thread_row, thread_column, sums, [](int) {});
    } else {
      const OperandPart b = part_of_b(operands.b, work, config.tile);
      const int k_left = work.k();
      gemm_simt::mainloop<config>(typename S::LoaderA(a, k_left), typename S::LoaderB(b, k_left),
                                  work.k_tiles, thread_row, thread_column, sums, [](int) {});
    }
  }
  gemm_simt::write_sums<config, Epilogue>(outputs_of(params, output_entry<Epilogue>(work)), memory, work,
                                          thread_row, thread_column, sums);
}

/// The same with scales of operands.
template <gemm_simt::Config config, class Epilogue>
QUARRY_DEVICE void compute(const ScaledGemmListParams& params, const ListWork& work,
                           arch::SharedAddress memory) {
  GemmParams gemm = outputs_of(params, work);
  const ListOperands operands = operands_of(params, work, {1, 1});
  gemm.a = operands.a;
  gemm.b = operands.b;
  gemm_simt::compute_scaled<config, Epilogue>(gemm, params.scales, work, memory);
}

/// Computes the block's tiles.
template <Config config, class Epilogue, class Params>
QUARRY_DEVICE void compute_list(const Params& params) {
  const arch::SharedAddress memory = arch::shared_memory();
  constexpr int unit = list_unit<Epilogue>(config.layouts.b, 1);
  for_each_list_tile<config.tile, unit>(
      params, [&](const ListWork& work) { compute<tile_config(config), Epilogue>(params, work, memory); });
}

/// The kernel. @tparam Params without or with scales of operands
template <Config config, class Epilogue = StandardChain, class Params>
QUARRY_DEVICE void kernel(const Params& params) {
  compute_list<config, Epilogue>(params);
}

}  // namespace quarry::gemm_list_simt
