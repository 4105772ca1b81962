/// Grouped GEMM with mma.sync: blocks walk over the tiles of all groups, and compute each as gemm_sm80 does.
///
/// A group ends like an operand: rows behind its end are not read, or read and dropped; in the last K tile of
/// a ragged group, zeros take the place of the positions behind its end, which are another's.
#pragma once

#include "gemm_sm80/kernel.cuh"
#include "grouped_gemm/tiles.cuh"
#include "grouped_gemm_sm80/config.hpp"

namespace quarry::grouped_gemm_sm80 {

/// The kernel, without and with scales of operands.
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const GroupedGemmParams& params) {
  const arch::SharedAddress memory = arch::shared_memory();
  constexpr bool gated = is_gated<Epilogue>();
  for_each_tile<config.types.out, config.tile, threads(config), gated>(params, [&](const GroupWork& work) {
    gemm_sm80::compute<tile_config(config), Epilogue, TileWriter>(params.gemm, work, memory);
  });
}
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ScaledGroupedGemmParams& params) {
  const arch::SharedAddress memory = arch::shared_memory();
  for_each_tile<config.types.out, config.tile, threads(config)>(params, [&](const GroupWork& work) {
    gemm_sm80::compute_scaled<tile_config(config), Epilogue>(params.gemm, params.scales, work, memory);
  });
}

}  // namespace quarry::grouped_gemm_sm80
