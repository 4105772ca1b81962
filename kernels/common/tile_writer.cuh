/// Where the sums of a tile go: to the output through the epilogue, or to the workspace of a split-K mode.
#pragma once

#include "arch/arch.hpp"
#include "common/epilogue.cuh"
#include "common/tile_scheduler.cuh"
#include "gemm/params.hpp"

namespace quarry {

/// The order in which the slices of an output tile add to its partial sums (split_k_serial, stream_k): one
/// after another, slice 0 first. That makes the result the same every time.
class Turn {
 public:
  /// @param counter the tile's own
  QUARRY_DEVICE Turn(int* counter, int slice) : counter_(counter), slice_(slice) {}

  /// Waits, as a whole block, until all earlier slices have passed the turn on.
  QUARRY_DEVICE void wait() const {
    if (arch::thread_index() == 0) {
      while (arch::load_acquire(counter_) != slice_) {
      }
    }
    arch::block_barrier();
  }

  /// Passes the turn on, with everything that the block has written: a release hands on what a barrier before
  /// it has ordered, too (PTX ISA, memory consistency model, causality order).
  QUARRY_DEVICE void pass_on() const {
    arch::block_barrier();
    if (arch::thread_index() == 0) arch::store_release(counter_, slice_ + 1);
  }

 private:
  int* counter_;
  int slice_;
};

template <class Compute>
QUARRY_DEVICE Quad<Compute> quads_added(const Quad<Compute>& earlier, const Quad<Compute>& later) {
  Quad<Compute> sum;
  QUARRY_UNROLL
  for (int i = 0; i < 4; ++i) sum.v[i] = added(earlier.v[i], later.v[i]);
  return sum;
}

/// Whether a tile lies within the output of its problem, all of it.
template <class Work>
QUARRY_DEVICE bool is_inside(const Work& work, Tile tile) {
  return work.m() - work.tile_m * tile.m >= tile.m && work.n() - work.tile_n * tile.n >= tile.n;
}

/// Where a thread's quads of a plain tile go: from (row, column) of the output on downwards.
template <class Epilogue>
class PlainColumn {
 public:
  QUARRY_DEVICE PlainColumn(const Epilogue& epilogue, int row, int column)
      : epilogue_(epilogue), first_(epilogue.place(row, column)) {}

  template <class Sum>
  QUARRY_DEVICE void write(int rows_below, const Quad<Sum>& sum) const {
    arch::global_store(first_ + rows_below * epilogue_.row_stride(), epilogue_.plain_outputs(sum));
  }

 private:
  const Epilogue& epilogue_;
  typename Epilogue::Output* first_;
};

/// What a thread writes of a regular tile: quads of the columns from `column` of the output on. What they
/// share is looked up once; of other tiles, nothing is.
template <class Epilogue>
class RegularColumn {
 public:
  /// @param is_regular whether the tile is, which starts at row `first_row` of the output
  QUARRY_DEVICE RegularColumn(const Epilogue& epilogue, bool is_regular, int first_row, int column)
      : epilogue_(epilogue), is_regular_(is_regular), first_row_(first_row), column_(column) {
    if (is_regular) addend_ = epilogue.column_addend(column);
  }

  QUARRY_DEVICE bool is_regular() const { return is_regular_; }

  /// Writes the outputs of `count` quads, the first `rows_below` the first row of the tile, the others
  /// `row_step` rows below each other.
  template <class Sum, int count>
  QUARRY_DEVICE void write(int rows_below, int row_step, const Quad<Sum> (&sums)[count]) const {
    epilogue_.write_regular(first_row_ + rows_below, row_step, column_, addend_, sums);
  }

 private:
  const Epilogue& epilogue_;
  bool is_regular_;
  int first_row_;
  int column_;
  Quad<typename Epilogue::Compute> addend_ = {};
};

/// Whether an epilogue is made from a piece of work, of which others are told the batch entry of the output.
template <class Epilogue, class Work>
concept TakesWork = requires(const GemmParams& params, const Work& work) {
  Epilogue(params, work);
};

/// Takes the sums of one tile, a quad at a time, and does with them what the mode asks.
template <class Compute, class Epilogue, class Work>
class TileWriter {
 public:
  using Finish = Epilogue;
  static constexpr bool has_short_ways = Epilogue::has_short_ways;

  QUARRY_DEVICE TileWriter(const GemmParams& params, const Work& work, Tile tile)
      : epilogue_(params, work.out().batch),
        params_(params),
        work_(work),
        tile_(tile),
        serial_(params.mode == Mode::split_k_serial && params.slices > 1) {}
  QUARRY_DEVICE TileWriter(const GemmParams& params, const Work& work,
                           Tile tile) requires TakesWork<Epilogue, Work>
      : epilogue_(params, work), params_(params), work_(work), tile_(tile), serial_(false) {}

  /// Call before the first quad, as a whole block.
  QUARRY_DEVICE void begin() const {
    if (serial_) turn().wait();
  }

  /// Whether the tile lies within the output, which is the sums times alpha, stored by whole quads: most
  /// tiles of most launches.
  QUARRY_DEVICE bool is_plain() const {
    return params_.slices == 1 && epilogue_.is_plain() && is_inside(work_, tile_);
  }

  /// The column of a plain tile from (row, column) of it on.
  QUARRY_DEVICE PlainColumn<Epilogue> plain_column(int row, int column) const {
    return {epilogue_, work_.out().row + work_.tile_m * tile_.m + row,
            work_.out().column + work_.tile_n * tile_.n + column};
  }

  /// The quads from `column` of the tile on, which is regular if it lies within the output, all sums of its
  /// outputs are here, and the epilogue has the short way for them. Nothing is looked up of a plain tile.
  QUARRY_DEVICE RegularColumn<Epilogue> regular_column(int column, bool is_plain) const {
    const bool is_regular =
        !is_plain && params_.slices == 1 && epilogue_.is_regular() && is_inside(work_, tile_);
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
    const int first_row = tile_row + row;
    const int first_column = tile_column + column;
    const int count = columns_left < 4 ? columns_left : 4;

    if (params_.mode == Mode::split_k_parallel) {
      partial_output().store(first_row, first_column, count, sum);
      return;
    }
    if (serial_) {
      Compute* const partial = partial_tile() + (row * tile_.n + column);
      if (work_.slice > 0) sum = quads_added(arch::global_load<Quad<Compute>>(partial), sum);
      if (work_.slice + 1 < params_.slices) {
        arch::global_store(partial, sum);
        return;
      }
    }
    finish(epilogue_, work_.out().row + first_row, work_.out().column + first_column, count, sum);
  }

  /// Takes what a warp has of a row of the tile: of each lane the quads that begin with columns 4 (lane + 32
  /// i), and of gated pairs their partners. What the sums of earlier slices are is added.
  template <int quads, class Reduced>
  QUARRY_DEVICE void write_row(int row, Quad<Compute> (&sums)[quads], Quad<Compute> (&partners)[quads],
                               Reduced& reduced) const {
    if (row >= work_.m() - work_.tile_m * tile_.m) return;
    if (serial_) {
      add_partials(row, 0, sums);
      if constexpr (is_gated<Epilogue>()) add_partials(row, tile_.n / 2, partners);
      if (!is_last()) return;
    }
    epilogue_.write_row(work_, tile_, row, sums, partners, reduced);
  }

  /// Leaves what a warp has reduced of the tile.
  template <class Reduced>
  QUARRY_DEVICE void leave(Reduced& reduced, int warps) const {
    if (is_last()) epilogue_.leave(work_, tile_, reduced, warps);
  }

  /// Call after the last quad, as a whole block.
  QUARRY_DEVICE void end() const {
    if (serial_) turn().pass_on();
  }

 private:
  QUARRY_DEVICE bool is_last() const { return !serial_ || work_.slice + 1 == params_.slices; }

  /// Adds the sums of earlier slices to the sums of a row from a column of the tile on, and leaves them to
  /// the next slice if there is one.
  template <int quads>
  QUARRY_DEVICE void add_partials(int row, int first_column, Quad<Compute> (&sums)[quads]) const {
    QUARRY_UNROLL
    for (int i = 0; i < quads; ++i) {
      const int column = (arch::lane_index() + 32 * i) * 4;
      if (column >= (is_gated<Epilogue>() ? tile_.n / 2 : tile_.n)) continue;
      Compute* const partial = partial_tile() + (row * tile_.n + first_column + column);
      if (work_.slice > 0) sums[i] = quads_added(arch::global_load<Quad<Compute>>(partial), sums[i]);
      if (!is_last()) arch::global_store(partial, sums[i]);
    }
  }

  QUARRY_DEVICE Turn turn() const { return {params_.counters + tile_index(params_, work_), work_.slice}; }

  /// The dense output of this slice and batch entry in the workspace (split_k_parallel).
  QUARRY_DEVICE MatrixView<Compute> partial_output() const {
    const long long matrix = static_cast<long long>(work_.slice) * params_.batch + work_.batch;
    return {static_cast<Compute*>(params_.partials) + matrix * work_.m() * work_.n(), work_.n(), 1};
  }

  /// The partial sums of this tile in the workspace (split_k_serial), row-major.
  QUARRY_DEVICE Compute* partial_tile() const {
    return static_cast<Compute*>(params_.partials) + tile_index(params_, work_) * (tile_.m * tile_.n);
  }

  Epilogue epilogue_;
  const GemmParams& params_;
  const Work& work_;
  Tile tile_;
  bool serial_;
};

}  // namespace quarry
