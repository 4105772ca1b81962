/// How a block's sums get from registers, where they lie as the multiplication left them, to whole rows of
/// the output: through shared memory, in passes of a few rows. The code behind the staging then exists once
/// in machine code, not once for each register.
#pragma once

#include "arch/arch.hpp"
#include "common/epilogue.cuh"
#include "common/epilogue_layout.hpp"
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

/// Whether the quads of a pass can be shared so that each thread has one column of them, evenly spaced: what
/// plain and regular tiles are written by.
template <int tile_n, StagedRows rows, int threads>
constexpr bool has_short_ways() {
  constexpr int quads = tile_n / 4;
  if (threads % quads != 0 || staged_row_read(tile_n, 1) != 1) return false;
  constexpr int step = threads / quads;
  return rows.rows % step == 0 && (rows.run % step == 0 || step % rows.run == 0);
}

/// One pass of a plain tile. What makes the general way slow, places and choices for each quad, is done once
/// for the pass.
template <class Compute, int tile_n, StagedRows rows, int threads, class Writer>
QUARRY_DEVICE void write_plain_pass(const StagedTile<Compute, tile_n>& staged, const Writer& writer,
                                    int pass) {
  constexpr int quads = tile_n / 4;
  constexpr int step = threads / quads;
  const int row = arch::thread_index() / quads;
  const int column = arch::thread_index() % quads * 4;
  const auto plain = writer.plain_column(rows.tile_row(pass, row), column);
  QUARRY_UNROLL
  for (int below = 0; below < rows.rows; below += step) {
    plain.write(rows.tile_row(0, below), arch::shared_load<Quad<Compute>>(staged.at(row + below, column)));
  }
}

/// Quads of a regular tile that are written at once: what they read is on its way together. Their rows are
/// evenly spaced in the tile, too.
template <int tile_n, StagedRows rows, int threads>
constexpr int quads_at_once() {
  constexpr int step = threads / (tile_n / 4);
  int count = 4;
  while (rows.rows % (step * count) != 0 || (step % rows.run != 0 && rows.run % (step * count) != 0))
    count /= 2;
  return count;
}

/// One pass of a regular tile.
template <class Compute, int tile_n, StagedRows rows, int threads, class Column>
QUARRY_DEVICE void write_regular_pass(const StagedTile<Compute, tile_n>& staged, const Column& regular,
                                      int pass) {
  constexpr int quads = tile_n / 4;
  constexpr int step = threads / quads;
  constexpr int count = quads_at_once<tile_n, rows, threads>();
  const int row = arch::thread_index() / quads;
  const int column = arch::thread_index() % quads * 4;
  QUARRY_ROLLED
  for (int first = row; first < rows.rows; first += step * count) {
    Quad<Compute> sums[count];
    QUARRY_UNROLL
    for (int i = 0; i < count; ++i)
      sums[i] = arch::shared_load<Quad<Compute>>(staged.at(first + i * step, column));
    regular.write(rows.tile_row(pass, first), rows.tile_row(0, step), sums);
  }
}

/// One pass of any tile.
template <class Compute, int tile_n, StagedRows rows, int threads, class Writer>
QUARRY_DEVICE void write_any_pass(const StagedTile<Compute, tile_n>& staged, const Writer& writer, int pass) {
  constexpr int quads = tile_n / 4;
  QUARRY_ROLLED
  for (int i = arch::thread_index(); i < rows.rows * quads; i += threads) {
    const int row = staged_row_read(tile_n, i / quads);
    const int column = i % quads * 4;
    writer.write(rows.tile_row(pass, row), column, arch::shared_load<Quad<Compute>>(staged.at(row, column)));
  }
}

/// The same for an epilogue that takes whole rows (is_wide), one warp each. A row of gated pairs is half a
/// row of the tile, and what else a lane has of it lies half a tile further on, or, in blocks of eight, eight
/// columns.
template <class Compute, int tile_n, StagedRows rows, int threads, class Writer, class Stage>
QUARRY_DEVICE void write_wide_tile(arch::SharedAddress staging, const Writer& writer, const Stage& stage) {
  constexpr int columns = is_gated<typename Writer::Finish>() ? tile_n / 2 : tile_n;
  constexpr int quads = (columns / 4 + 31) / 32;  // of a lane
  constexpr int warps = threads / 32;
  static_assert(threads % 32 == 0 && columns % 4 == 0);
  const StagedTile<Compute, tile_n> staged = {staging};
  typename Writer::Finish::template Reduced<quads> reduced;
  writer.begin();
  QUARRY_ROLLED
  for (int pass = 0; pass < rows.passes; ++pass) {
    stage(pass, staged);
    arch::block_barrier();
    QUARRY_ROLLED
    for (int row = arch::warp_index(); row < rows.rows; row += warps) {
      Quad<Compute> sums[quads] = {};
      Quad<Compute> partners[quads] = {};
      QUARRY_UNROLL
      for (int i = 0; i < quads; ++i) {
        const int column = (arch::lane_index() + 32 * i) * 4;
        if (column >= columns) continue;
        if constexpr (has_eights<typename Writer::Finish>()) {
          // Every other two blocks are read from the partners on: eight lanes would else meet in banks.
          const int gate = column / 8 * 16 + column % 8;
          const bool turned = column / 16 % 2 != 0;
          const auto first = arch::shared_load<Quad<Compute>>(staged.at(row, gate + (turned ? 8 : 0)));
          const auto second = arch::shared_load<Quad<Compute>>(staged.at(row, gate + (turned ? 0 : 8)));
          sums[i] = turned ? second : first;
          partners[i] = turned ? first : second;
        } else {
          sums[i] = arch::shared_load<Quad<Compute>>(staged.at(row, column));
          if (columns < tile_n)
            partners[i] = arch::shared_load<Quad<Compute>>(staged.at(row, columns + column));
        }
      }
      writer.write_row(rows.tile_row(pass, row), sums, partners, reduced);
    }
    arch::block_barrier();
  }
  writer.leave(reduced, warps);
  writer.end();
}

/// Whether a writer's epilogue takes whole rows. Writers of other operations do not tell theirs.
template <class Writer>
constexpr bool takes_rows() {
  if constexpr (requires { typename Writer::Finish; }) return is_wide<typename Writer::Finish>();
  return false;
}

/// Hands all sums of a tile to `writer` by quads.
template <class Compute, int tile_n, StagedRows rows, int threads, class Writer, class Stage>
QUARRY_DEVICE void write_tile_by_quads(arch::SharedAddress staging, const Writer& writer,
                                       const Stage& stage) {
  const StagedTile<Compute, tile_n> staged = {staging};
  const auto passes = [&](const auto& write_pass) {
    QUARRY_ROLLED
    for (int pass = 0; pass < rows.passes; ++pass) {
      stage(pass, staged);
      arch::block_barrier();
      write_pass(pass);
      arch::block_barrier();
    }
  };
  writer.begin();
  if constexpr (Writer::has_short_ways && has_short_ways<tile_n, rows, threads>()) {
    const bool plain = writer.is_plain();
    const auto regular = writer.regular_column(arch::thread_index() % (tile_n / 4) * 4, plain);
    passes([&](int pass) {
      if (plain) {
        write_plain_pass<Compute, tile_n, rows, threads>(staged, writer, pass);
      } else if (regular.is_regular()) {
        write_regular_pass<Compute, tile_n, rows, threads>(staged, regular, pass);
      } else {
        write_any_pass<Compute, tile_n, rows, threads>(staged, writer, pass);
      }
    });
  } else {
    passes([&](int pass) { write_any_pass<Compute, tile_n, rows, threads>(staged, writer, pass); });
  }
  writer.end();
}

/// Hands all sums of a tile to `writer`, neighbouring lanes taking neighbouring quads of a row. `stage(pass,
/// staged)` puts the sums of a pass into shared memory; it is called by all threads, between barriers.
template <class Compute, int tile_n, StagedRows rows, int threads, class Writer, class Stage>
QUARRY_DEVICE void write_tile(arch::SharedAddress staging, const Writer& writer, const Stage& stage) {
  if constexpr (takes_rows<Writer>()) {
    return write_wide_tile<Compute, tile_n, rows, threads>(staging, writer, stage);
  } else {
    write_tile_by_quads<Compute, tile_n, rows, threads>(staging, writer, stage);
  }
}
}  // namespace quarry
