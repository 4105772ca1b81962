/// Convolution with wgmma: the kernel of gemm_sm90, whose copy engine brings boxes of tensors.
#pragma once

#include "conv2d_sm90/config.hpp"
#include "conv2d_sm90/gradient_list.cuh"
#include "conv2d_sm90/phase_sources.cuh"
#include "conv2d_sm90/sources.cuh"
#include "gemm_sm90/kernel.cuh"

namespace quarry::conv2d_sm90 {

/// The kernel of a product's config. (GCC 12 fails on types of a config that is computed from a parameter, so
/// that is one, too.)
template <gemm_sm90::Config config, Direction direction, class Epilogue>
QUARRY_DEVICE void convolve(const TensorConv2dParams& params) {
  using Sources = TensorSources<config, direction>;
  if constexpr (direction == Direction::wgrad && config.schedule != Schedule::one_tile) {
    gemm_sm90::run<config, Epilogue, Sources>(params, nullptr);  // its slices may have two lengths
  } else {
    const TensorGemmParams& product = params;
    gemm_sm90::run<config, Epilogue, Sources>(product, nullptr);
  }
}

template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const TensorConv2dParams& params) {
  convolve<product(config), config.direction, Epilogue>(params);
}

/// The same of a dgrad in phases.
template <gemm_sm90::Config config, class Epilogue>
QUARRY_DEVICE void convolve_phases(const PhasedTensorConv2dParams& params) {
  gemm_sm90::run<config, Epilogue, PhaseSources<config>>(params, nullptr);
}

template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const PhasedTensorConv2dParams& params) {
  convolve_phases<product(config), Epilogue>(params);
}

}  // namespace quarry::conv2d_sm90
