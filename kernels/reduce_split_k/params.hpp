/// What a reduction is launched with: one struct by value, written by the host and read by the device.
#pragma once

#include "common/epilogue_params.hpp"
#include "common/matrix_params.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// Parameters of the reduction that follows split_k_parallel: out = epilogue(sum over slices, in order).
struct ReduceParams {
  const void* partials;  ///< [slice][batch][m][n] of partial_type
  MatrixParams c;
  MatrixParams out;
  EpilogueParams epilogue;
  int m;
  int n;
  int batch;
  int slices;
  /// Threads of a warp that share the slices of four outputs, as a power of two; 0 is right for all sizes.
  int sharers_log2;
};

}  // namespace quarry
