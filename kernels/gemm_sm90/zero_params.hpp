/// What kernels of weights with zero points are launched with.
#pragma once

#include "gemm_sm90/params.hpp"

namespace quarry::gemm_sm90 {

/// Scales, and zero points behind them.
struct ZeroedScaleParams : GemmScaleParams {
  GemmZeroParams zeros;
};

/// As ScaledTensorGemmParams, with zero points.
struct ZeroTensorGemmParams {
  TensorGemmParams tensor;
  ZeroedScaleParams scales;
};

}  // namespace quarry::gemm_sm90
