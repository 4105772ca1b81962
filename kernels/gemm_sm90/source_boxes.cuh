/// Boxes of a matrix that the epilogue reads and the bulk copy engine brings: C, or a residual. They lie
/// there as the output's boxes do.
#pragma once

#include "gemm_sm90/box_lanes.cuh"
#include "gemm_sm90/box_ring.cuh"
#include "gemm_sm90/sums.cuh"
#include "gemm_sm90/work_matrices.cuh"

namespace quarry::gemm_sm90 {

/// Whether the engine may bring what the epilogue reads: by boxes that are whole.
template <class Work>
inline constexpr bool may_fetch_boxes =
    !has_scattered_rows<Work> && !Work::has_neighbours && !MatricesOf<Work>::are_own;

/// The factor of C.
template <Config config>
QUARRY_DEVICE ValueType<config> beta_of(const EpilogueParams& epilogue) {
  return scalar_factor<ValueType<config>>(epilogue.beta, epilogue.beta_pointer);
}

/// Whether the engine brings a matrix: C with a factor of 0 is not read.
template <Config config>
QUARRY_DEVICE bool fetches_source(const TensorGemmParams& params) {
  return params.fetched == Fetched::residual ||
         (params.fetched == Fetched::c && beta_of<config>(params.gemm.epilogue) != 0);
}

/// Box `index` of a warp's part of a tile in the output. @param first_row of the warp in the tile
template <Config config, class Work>
QUARRY_DEVICE BoxAt output_box_at(const Work& work, int first_row, int index) {
  constexpr int columns = box_out(config).columns;
  constexpr int block_boxes = config.tile.n / columns;
  const OperandBase base = work.out();
  return {base.row + work.tile_m * config.tile.m + first_row + index / block_boxes * instruction_m,
          base.column + work.tile_n * config.tile.n + index % block_boxes * columns,
          MatricesOf<Work>::are_own ? 0 : base.batch};
}

/// The same of the matrix that the engine brings: one for all batch entries is shown to it as a batch of one.
template <Config config, class Work>
QUARRY_DEVICE BoxAt source_box_at(const TensorGemmParams& params, const Work& work, int first_row,
                                  int index) {
  const MatrixParams& source = params.fetched == Fetched::c ? params.gemm.c : params.gemm.epilogue.residual;
  BoxAt at = output_box_at<config>(work, first_row, index);
  if (source.batch_stride == 0) at.batch = 0;
  return at;
}

}  // namespace quarry::gemm_sm90
