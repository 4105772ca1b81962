/// How a block's sums get from registers, where they lie as the multiplication left them, to whole rows of
/// the output: through shared memory, in passes of a few rows. The code behind the staging then exists once
/// in machine code, not once for each register.
#pragma once

#include "arch/arch.hpp"
#include "common/gemm_epilogue_layout.hpp"
#include "common/matrix_view.cuh"

namespace quarry {

/// Which rows of a tile a pass stages: runs of `run` rows, `run_stride` apart, `rows` in all; the next pass
/// begins `pass_stride` rows further on.
struct StagedRows {
  int rows;
  int run;
  int run_stride;
  int pass_stride;
  int passes;

  /// Row of the tile of a staged row.
  constexpr int tile_row(int pass, int staged_row) const {
    return staged_row / run * run_stride + staged_row % run + pass * pass_stride;
  }
};

/// The staged rows of one pass in shared memory.
template <class Compute, int tile_n>
struct StagedTile {
  arch::SharedAddress data;

  QUARRY_DEVICE arch::SharedAddress at(int staged_row, int column) const {
    return data + (staged_row * staging_row_elements(tile_n) + column) * static_cast<int>(sizeof(Compute));
  }
};

/// Hands all sums of a tile to `writer`, neighbouring lanes taking neighbouring quads of a row. `stage(pass,
/// staged)` puts the sums of a pass into shared memory; it is called by all threads, between barriers.
template <class Compute, int tile_n, StagedRows rows, int threads, class Writer, class Stage>
QUARRY_DEVICE void write_tile(arch::SharedAddress staging, const Writer& writer, const Stage& stage) {
  constexpr int quads = tile_n / 4;
  const StagedTile<Compute, tile_n> staged = {staging};
  writer.begin();
  QUARRY_ROLLED
  for (int pass = 0; pass < rows.passes; ++pass) {
    stage(pass, staged);
    arch::block_barrier();
    QUARRY_ROLLED
    for (int i = arch::thread_index(); i < rows.rows * quads; i += threads) {
      const int row = staged_row_read(tile_n, i / quads);
      const int column = i % quads * 4;
      writer.write(rows.tile_row(pass, row), column,
                   arch::shared_load<Quad<Compute>>(staged.at(row, column)));
    }
    arch::block_barrier();
  }
  writer.end();
}

}  // namespace quarry
