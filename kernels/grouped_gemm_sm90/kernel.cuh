/// Grouped GEMM with wgmma: the pipeline, main loop and epilogue of gemm_sm90, whose blocks walk over the
/// tiles of all groups. Sizes are read on the device, by each warp that walks.
///
/// Of contiguous groups, a tensor map covers the rows of all, and a tile begins at any row. The rows behind a
/// group's end are multiplied, too, by warpgroups that have rows of it, but not stored: boxes of the output
/// that are cut by it are stored by the lanes, row by row.
#pragma once

#include "gemm_sm90/kernel.cuh"
#include "grouped_gemm_sm90/beside_copies.cuh"
#include "grouped_gemm_sm90/sources.cuh"

namespace quarry::grouped_gemm_sm90 {

/// The kernel, without and with scales of operands.
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const GroupedTensorGemmParams& params) {
  constexpr gemm_sm90::Config tile = tile_config(config);
  gemm_sm90::run<tile, Epilogue, GroupSources<tile>>(params, nullptr);
}
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ScaledGroupedTensorGemmParams& params) {
  constexpr gemm_sm90::Config tile = tile_config(config);
  const GroupedTensorGemmParams& tensor = params;
  gemm_sm90::run<tile, Epilogue, GroupSources<tile>>(tensor, &params.scales);
}

}  // namespace quarry::grouped_gemm_sm90
