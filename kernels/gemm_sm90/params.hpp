/// What a GEMM kernel whose operands move by the bulk tensor copy engine is launched with.
#pragma once

#include "arch/tensor_map.hpp"
#include "gemm_sm90/tile_finder.hpp"

namespace quarry {

/// Which matrix of the epilogue the bulk copy engine brings to the threads that read it.
enum class Fetched : unsigned char { none, c, residual };

/// Parameters of a GEMM kernel whose operands move by the bulk tensor copy engine. Extents of a map: elements
/// of a line, lines, batch entries (one where all are the same).
struct TensorGemmParams {
  GemmParams gemm;
  TensorMap a;
  TensorMap b;
  /// Boxes of the output that a warp stores; only if `stores_boxes`. Otherwise its lanes store elements.
  TensorMap out;
  /// The same boxes of C or of the residual, if one of them is `fetched`.
  TensorMap source;
  Fetched fetched;
  bool stores_boxes;
  /// The epilogue has a scale, C, a residual, aux or bounds. Otherwise it is alpha times the sums, a bias and
  /// an activation.
  bool is_general;
  /// Of these it has only what is fetched, and no activation.
  bool only_adds;
  TileFinder finder;
};

/// The same of kernels that take scales.
struct ScaledTensorGemmParams {
  TensorGemmParams tensor;
  GemmScaleParams scales;
};

}  // namespace quarry
