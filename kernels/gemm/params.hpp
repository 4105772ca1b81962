/// What a GEMM kernel is launched with: one struct by value, written by the host and read by the device.
#pragma once

#include "common/epilogue_params.hpp"
#include "common/matrix_params.hpp"
#include "quarry/types.hpp"

namespace quarry {

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

/// Positions of K, and columns of B, that a block of scales covers; the last block may be short.
inline constexpr int scale_block = 128;

/// The least positions of K that share a scale where scales change along K.
inline constexpr int least_scale_group = 32;

/// The scales of one operand: the scale of its line (row of A, column of B) `line` at `k` lies in row line >>
/// lines_log2 and column k >> k_log2 (k / scale_block, for kernels that take no finer scales).
struct ScaleParams {
  MatrixParams
      values;  ///< f32; strides of 0 where lines, or all of K, share a value; data is null: all are 1
  int lines_log2;
  int k_log2;
};

/// The scales of both operands of a launch.
struct GemmScaleParams {
  ScaleParams a;
  ScaleParams b;
};

/// Parameters of kernels that take scales. Others have no room for them, so that their code knows of none.
struct ScaledGemmParams {
  GemmParams gemm;
  GemmScaleParams scales;
};

/// Zero points of both operands of a launch: u8, by line and block of K as their scales. Data is null: all
/// are 0.
struct GemmZeroParams {
  MatrixParams a;
  MatrixParams b;
};

/// Parameters of kernels that take zero points beside scales.
struct ZeroGemmParams {
  ScaledGemmParams scaled;
  GemmZeroParams zeros;
};

}  // namespace quarry
