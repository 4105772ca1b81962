/// Slices of a wgrad may have two lengths: few outputs are the sums of very many products.
#pragma once

#include "conv2d_sm90/params.hpp"
#include "gemm_sm90/long_slice_list.cuh"

namespace quarry::conv2d_sm90 {

template <gemm_sm90::Config config>
class GradientList : public gemm_sm90::LongSliceList<config> {
 public:
  QUARRY_DEVICE GradientList(const TensorConv2dParams& params, const gemm_sm90::ClusterPlace& place)
      : gemm_sm90::LongSliceList<config>(params, params.longs, place) {}
};

}  // namespace quarry::conv2d_sm90

namespace quarry::gemm_sm90 {

/// Only of wgrad: other directions are launched with their product's parameters.
template <Config config>
struct WorkListOf<config, TensorConv2dParams> {
  using Type = conv2d_sm90::GradientList<config>;
};

}  // namespace quarry::gemm_sm90
