/// What a GEMM kernel is launched with: one struct by value, written by the host and read by the device.
#pragma once

#include "arch/tensor_map.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// As a batch stride: the matrices of a batch lie anywhere, and an array holds their addresses.
inline constexpr long long pointer_array_stride = -1;

/// Where a matrix starts and how it is walked, in elements: from one row to the next, one column to the next,
/// one batch entry to the next. A stride of 0 broadcasts. Those of an interleaved matrix:
/// common/interleaved.hpp.
struct MatrixParams {
  /// The first element; where batch_stride is pointer_array_stride, an array of such pointers, one for each
  /// batch entry.
  const void* data;
  long long row_stride;
  long long column_stride;
  long long batch_stride;
};

/// Whether the matrices of a batch are found through an array of pointers.
constexpr bool is_pointer_array(const MatrixParams& m) { return m.batch_stride == pointer_array_stride; }

/// The same matrix seen as its transpose.
constexpr MatrixParams transposed(const MatrixParams& m) {
  return {m.data, m.column_stride, m.row_stride, m.batch_stride};
}

/// Epilogue of one launch:
///   z = alpha * scale * sum + beta * c + bias
///   out = clamp(activation(z) + residual)
struct EpilogueParams {
  double alpha;
  double beta;
  /// Bounds of the output, where it is clamped; whole numbers where s32 is computed in.
  double clamp_low;
  double clamp_high;
  /// Where not null, read instead of the values above: one number of compute_type (f64, s32 or f32).
  const void* alpha_pointer;
  const void* beta_pointer;
  /// Null: no bias. Element i of the bias belongs to row i or to column i of the output.
  const void* bias;
  /// m x n of compute_type, with strides of 0: a value for each row, each column, or for all; data is null:
  /// none, and always where that type is s32.
  MatrixParams scale;
  MatrixParams residual;  ///< m x n of the output's type; data is null: none
  MatrixParams aux;       ///< m x n of the output's type, z is written through it; data is null: nowhere
  BiasAxis bias_axis;
  Activation activation;
  bool clamps;
  /// Promises that out is alpha * sum: nothing of the above is asked for, and beta is 0. A short cut: false
  /// is always right.
  bool only_alpha;
  float leaky_slope;
};

/// The epilogue of the transposed output.
constexpr EpilogueParams transposed(EpilogueParams e) {
  e.scale = transposed(e.scale);
  e.residual = transposed(e.residual);
  e.aux = transposed(e.aux);
  e.bias_axis = e.bias_axis == BiasAxis::row ? BiasAxis::column : BiasAxis::row;
  return e;
}

/// Parameters of every GEMM kernel of this project. The output of a launch is row-major or strided;
/// column-major outputs are launched as their transpose.
struct GemmParams {
  MatrixParams a;    ///< m x k
  MatrixParams b;    ///< k x n
  MatrixParams c;    ///< m x n; data is null when beta is 0
  MatrixParams out;  ///< m x n; written through
  EpilogueParams epilogue;
  int m;
  int n;
  int k;
  int batch;
  /// Tiles of the output (of a cluster's blocks together, where the kernel has clusters). Blocks of the grid
  /// are one-dimensional, outermost first: batch entry, slice of K, then tiles in swizzled order.
  int tiles_m;
  int tiles_n;
  /// Columns of tiles that are walked together, as a power of two: 0 to 3 for a swizzle of 1, 2, 4, 8.
  int swizzle_log2;
  Raster raster;
  Mode mode;
  /// Slices of K and how many K tiles (of the kernel's tile.k) each has; the last may have fewer, or none.
  int slices;
  int k_tiles_per_slice;
  /// split_k_serial: partial tiles of partial_type (f64, s32 or f32), tile by tile, each tile.m * tile.n
  /// row-major; tile
  ///   index = batch entry * tiles_m * tiles_n + row of tiles * tiles_n + column of tiles.
  /// split_k_parallel: partial outputs [slice][batch][m][n] of the same type, dense; [slice][batch][n][m]
  /// from a kernel whose output is column-major.
  /// stream_k: partial tiles as of split_k_serial, one for each block but the last: of the tile whose
  /// beginning the block has, and leaves to the next ones.
  void* partials;
  /// split_k_serial: batch * tiles_m * tiles_n turn counters, then one ticket counter; all zero at launch.
  /// stream_k: a turn counter for each partial tile, then one ticket counter, likewise.
  int* counters;
};

/// Parameters of a GEMM kernel whose operands move by the bulk tensor copy engine. Extents of a map: elements
/// of a line, lines, batch entries (one where all are the same).
struct TensorGemmParams {
  GemmParams gemm;
  TensorMap a;
  TensorMap b;
  /// Boxes of the output that a warpgroup stores; only if `stores_boxes`, which is false where the epilogue
  /// scales, clamps, adds a residual or writes aux.
  TensorMap out;
  bool stores_boxes;
};

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
};

}  // namespace quarry
