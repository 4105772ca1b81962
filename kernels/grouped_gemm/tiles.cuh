/// The way of a block over the tiles of all groups, for kernels whose threads go it all together.
#pragma once

#include "common/element.cuh"
#include "common/epilogue.cuh"
#include "common/matrix_view.cuh"
#include "grouped_gemm/schedule.cuh"

namespace quarry {

/// Writes zeros to the rows of a tile. @tparam gated the output has half the columns
template <DType out_type, Tile tile, int threads, bool gated>
QUARRY_DEVICE void write_zeros(const GroupedGemmParams& params, const GroupWork& work) {
  using Out = Element<out_type>;
  const MatrixView<Out> out = matrix_of<Out>(params.gemm.out, work.out().batch);
  const int first_row = work.tile_m * tile.m;
  constexpr int columns = gated ? tile.n / 2 : tile.n;
  const int first_column = work.tile_n * columns;
  constexpr int quads = columns / 4;
  QUARRY_ROLLED
  for (int i = arch::thread_index(); i < tile.m * quads; i += threads) {
    const int row = first_row + i / quads;
    const int column = first_column + i % quads * 4;
    const int left = (gated ? work.n() / 2 : work.n()) - column;  // none are stored where it is negative
    if (row < work.m()) out.store(work.out().row + row, column, left < 4 ? left : 4, {});
  }
}

/// Calls `compute(work)` for each tile of a group that is the block's, and writes zeros where these are to
/// be. @tparam gated see write_zeros
template <DType out_type, Tile tile, int threads, bool gated = false, class Compute>
QUARRY_DEVICE void for_each_tile(const GroupedGemmParams& params, const Compute& compute) {
  GroupWalk walk(params, tile);
  QUARRY_ROLLED
  for (long long position = arch::block_index(); walk.seek(position); position += arch::grid_blocks()) {
    const GroupWork work = walk.work();
    if (walk.is_outside()) {
      write_zeros<out_type, tile, threads, gated>(params, work);
    } else {
      compute(work);
    }
  }
}

}  // namespace quarry
