/// A list of GEMMs with wgmma: the pipeline, main loop and epilogue of gemm_sm90, whose blocks walk over the
/// tiles of all problems.
///
/// The copy engine needs a tensor map for each matrix, and only the device knows where the matrices of a
/// problem lie and how large they are. So a first step makes the maps, and the second one, which may start
/// before it ends, waits for it.
#pragma once

#include "gemm_list_sm90/tensor_list.cuh"
#include "gemm_sm90/kernel.cuh"

namespace quarry::gemm_list_sm90 {

/// The first step. @tparam unit as of make_maps
template <Config config, int unit = 1>
QUARRY_DEVICE void run_first_step(const Params& params) {
  arch::wait_for_earlier_kernels();  // which may still copy by the maps of another run
  arch::let_later_kernels_start();
  make_maps<config, unit>(params, arch::shared_memory());
}

/// One of the steps. @param scales null in kernels that take none
template <Config config, class Epilogue>
QUARRY_DEVICE void run_step(const Params& params, const GemmScaleParams* scales) {
  if (params.makes_maps) return run_first_step<config>(params);
  constexpr gemm_sm90::Config tile = tile_config(config);
  gemm_sm90::run<tile, Epilogue, ListSources<tile>>(params, scales);
}

/// The kernel, without and with scales of operands.
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ListTensorGemmParams& params) {
  run_step<config, Epilogue>(params, nullptr);
}
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ScaledListTensorGemmParams& params) {
  run_step<config, Epilogue>(params, &params.scales);
}

}  // namespace quarry::gemm_list_sm90
