/// Stream-K on the device: which part a block computes next, and where its sums go.
///
/// Every wait ends, whatever blocks run at once. Blocks are numbered by tickets, so those before a block have
/// started. A block waits only for the parts of its tile that come before its own, which belong to the blocks
/// right before it; and each of these leaves its part before all others of its range (StreamWalk), waiting at
/// most likewise. So the first block of a tile waits for nobody, and each of the next for one that goes on.
#pragma once

#include "arch/arch.hpp"
#include "common/stream_k.hpp"
#include "common/tile_scheduler.cuh"
#include "common/tile_writer.cuh"

namespace quarry {

/// The shares of the blocks of this grid.
QUARRY_DEVICE StreamShares stream_shares(const GemmParams& params, int tile_k) {
  const int k_tiles = params.k / tile_k + (params.k % tile_k != 0);
  const unsigned all_tiles = static_cast<unsigned>(params.batch) * tiles(params);
  return stream_shares(params.mode, all_tiles, k_tiles, arch::grid_blocks());
}

/// Number of the block among those that share: a ticket where some wait for others.
QUARRY_DEVICE unsigned stream_position(const GemmParams& params, arch::SharedAddress scratch) {
  if (params.mode != Mode::stream_k) return arch::block_index();
  return drawn_ticket(params.counters + (arch::grid_blocks() - 1), scratch);
}

/// A part of a tile as work; `slice` counts the parts before it.
struct StreamWork : TileWork {
  unsigned first_block;
  bool is_last;
};

QUARRY_DEVICE StreamWork stream_work(const GemmParams& params, const StreamPart& part, int tile_k) {
  StreamWork work = {work_at(params, part.tile, tile_k), part.first_block, part.is_last};
  work.slice = part.earlier;
  work.first_k_tile = part.first_k_tile;
  work.k_tiles = part.k_tiles;
  return work;
}

/// Takes the sums of one part of a tile, a quad at a time, as TileWriter does: adds the sums of the parts
/// before it, and leaves them to the next one or finishes them.
template <class Compute, class Epilogue, class Work>
class StreamWriter {
 public:
  using Finish = Epilogue;
  static constexpr bool has_short_ways = Epilogue::has_short_ways;

  QUARRY_DEVICE StreamWriter(const GemmParams& params, const Work& work, Tile tile)
      : epilogue_(params, work.out().batch), params_(params), work_(work), tile_(tile) {}

  /// Call before the first quad, as a whole block.
  QUARRY_DEVICE void begin() const {
    if (work_.slice > 0) turn().wait();
  }

  /// As TileWriter's, of a part that is all of its tile.
  QUARRY_DEVICE bool is_plain() const {
    return work_.slice == 0 && work_.is_last && epilogue_.is_plain() && is_inside(work_, tile_);
  }
  QUARRY_DEVICE PlainColumn<Epilogue> plain_column(int row, int column) const {
    return {epilogue_, work_.out().row + work_.tile_m * tile_.m + row,
            work_.out().column + work_.tile_n * tile_.n + column};
  }

  QUARRY_DEVICE RegularColumn<Epilogue> regular_column(int column, bool is_plain) const {
    const bool is_regular =
        !is_plain && work_.slice == 0 && work_.is_last && epilogue_.is_regular() && is_inside(work_, tile_);
    return {epilogue_, is_regular, work_.out().row + work_.tile_m * tile_.m,
            work_.out().column + work_.tile_n * tile_.n + column};
  }

  /// Takes the sums of the four outputs from (row, column) of the tile on. Those outside the output are
  /// dropped.
  QUARRY_DEVICE void write(int row, int column, Quad<Compute> sum) const {
    const int tile_row = work_.tile_m * tile_.m;
    const int tile_column = work_.tile_n * tile_.n;
    const int columns_left = work_.n() - tile_column - column;
    if (row >= work_.m() - tile_row || columns_left <= 0) return;
    const int place = row * tile_.n + column;
    if (work_.slice > 0) sum = quads_added(arch::global_load<Quad<Compute>>(partial_tile() + place), sum);
    if (!work_.is_last) {
      arch::global_store(partial_tile() + place, sum);
      return;
    }
    finish(epilogue_, work_.out().row + tile_row + row, work_.out().column + tile_column + column,
           columns_left < 4 ? columns_left : 4, sum);
  }

  /// As TileWriter's.
  template <int quads, class Reduced>
  QUARRY_DEVICE void write_row(int row, Quad<Compute> (&sums)[quads], Quad<Compute> (&partners)[quads],
                               Reduced& reduced) const {
    if (row >= work_.m() - work_.tile_m * tile_.m) return;
    add_partials(row, 0, sums);
    if constexpr (is_gated<Epilogue>()) add_partials(row, tile_.n / 2, partners);
    if (work_.is_last) epilogue_.write_row(work_, tile_, row, sums, partners, reduced);
  }
  template <class Reduced>
  QUARRY_DEVICE void leave(Reduced& reduced, int warps) const {
    if (work_.is_last) epilogue_.leave(work_, tile_, reduced, warps);
  }

  /// Call after the last quad, as a whole block.
  QUARRY_DEVICE void end() const {
    if (!work_.is_last) turn().pass_on();
  }

 private:
  template <int quads>
  QUARRY_DEVICE void add_partials(int row, int first_column, Quad<Compute> (&sums)[quads]) const {
    QUARRY_UNROLL
    for (int i = 0; i < quads; ++i) {
      const int column = (arch::lane_index() + 32 * i) * 4;
      if (column >= (is_gated<Epilogue>() ? tile_.n / 2 : tile_.n)) continue;
      const int place = row * tile_.n + first_column + column;
      if (work_.slice > 0)
        sums[i] = quads_added(arch::global_load<Quad<Compute>>(partial_tile() + place), sums[i]);
      if (!work_.is_last) arch::global_store(partial_tile() + place, sums[i]);
    }
  }

  QUARRY_DEVICE Turn turn() const { return {params_.counters + work_.first_block, work_.slice}; }

  /// The partial sums of this tile in the workspace, row-major.
  QUARRY_DEVICE Compute* partial_tile() const {
    return static_cast<Compute*>(params_.partials) +
           static_cast<long long>(work_.first_block) * (tile_.m * tile_.n);
  }

  Epilogue epilogue_;
  const GemmParams& params_;
  const Work& work_;
  Tile tile_;
};

}  // namespace quarry
