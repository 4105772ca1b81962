/// Grouped GEMM with plain fused multiply-add, or for bytes dot products of four: blocks walk over the tiles
/// of all groups, and compute each as gemm_simt does.
#pragma once

#include "gemm_simt/kernel.cuh"
#include "grouped_gemm/tiles.cuh"
#include "grouped_gemm_simt/config.hpp"

namespace quarry::grouped_gemm_simt {

/// Multiplies and writes a tile of a group.
template <gemm_simt::Config config, class Epilogue>
QUARRY_DEVICE void compute(const GemmParams& params, const GroupWork& work, arch::SharedAddress memory) {
  using S = gemm_simt::Shape<config>;
  const int thread_row = arch::thread_index() / S::threads_n;
  const int thread_column = arch::thread_index() % S::threads_n;
  gemm_simt::Sums<config> sums;
  if (work.k_tiles > 0) {
    const OperandPart a = part_of_a(params.a, work, config.tile);
    if constexpr (is_gated<Epilogue>()) {
      const OperandPart b = gated_part_of_b(params.b, work, config.tile);
      const int k_left = work.k();
      gemm_simt::mainloop<config>(typename S::LoaderA(a, k_left), typename S::GatedLoaderB(b, k_left),
                                  work.k_tiles, thread_row, thread_column, sums, [](int) {});
    } else {
      const OperandPart b = part_of_b(params.b, work, config.tile);
      const int k_left = work.k();
      gemm_simt::mainloop<config>(typename S::LoaderA(a, k_left), typename S::LoaderB(b, k_left),
                                  work.k_tiles, thread_row, thread_column, sums, [](int) {});
    }
  }
  gemm_simt::write_sums<config, Epilogue>(params, memory, work, thread_row, thread_column, sums);
}

/// The kernel, without and with scales of operands.
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const GroupedGemmParams& params) {
  const arch::SharedAddress memory = arch::shared_memory();
  constexpr bool gated = is_gated<Epilogue>();
  for_each_tile<config.types.out, config.tile, threads(config), gated>(params, [&](const GroupWork& work) {
    compute<tile_config(config), Epilogue>(params.gemm, work, memory);
  });
}
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ScaledGroupedGemmParams& params) {
  const arch::SharedAddress memory = arch::shared_memory();
  for_each_tile<config.types.out, config.tile, threads(config)>(params, [&](const GroupWork& work) {
    gemm_simt::compute_scaled<tile_config(config), Epilogue>(params.gemm, params.scales, work, memory);
  });
}

}  // namespace quarry::grouped_gemm_simt
