/// What kernels of convolutions whose operands move by the bulk tensor copy engine are launched with.
#pragma once

#include "common/long_slices.hpp"
#include "conv2d/params.hpp"
#include "gemm_sm90/params.hpp"

namespace quarry {

/// The same of kernels whose operands move by the bulk tensor copy engine. C and the output are matrices, as
/// a GEMM's, and K is counted in whole K tiles, where each tap's channels begin with one.
struct TensorConv2dParams : TensorGemmParams {
  Windows windows;
  LongSlices longs;  ///< of a wgrad's K; the others have k_tiles_per_slice
};

}  // namespace quarry
