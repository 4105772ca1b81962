/// What kernels of groups whose operands move by the bulk tensor copy engine are launched with.
#pragma once

#include "gemm_sm90/params.hpp"
#include "grouped_gemm/params.hpp"
#include "grouped_gemm_sm90/bands.hpp"

namespace quarry {

/// Parameters of those whose operands move by the bulk tensor copy engine.
struct GroupedTensorGemmParams : TensorGemmParams {
  /// A as `a` shows it, by boxes of half the lines, and of a quarter.
  TensorMap half_a;
  TensorMap quarter_a;
  GroupParams groups;
  Bands bands;
};

/// The same of kernels that take scales.
struct ScaledGroupedTensorGemmParams : GroupedTensorGemmParams {
  GemmScaleParams scales;
};

}  // namespace quarry
