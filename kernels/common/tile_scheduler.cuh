/// Which part of a GEMM a block computes.
#pragma once

#include "arch/arch.hpp"
#include "gemm/params.hpp"

namespace quarry {

/// Where the problem of a piece of work begins in an operand: a batch entry, and a row and column of it.
struct OperandBase {
  int batch;
  int row;
  int column;
};

/// A problem of a launch whose problems are all alike: one for each batch entry. What the parameters say is
/// read where it is used, so that it takes no registers while the main loop runs.
struct BatchEntry {
  /// Whether rows of other problems may follow its own in the output, which must keep their bytes.
  static constexpr bool has_neighbours = false;

  const GemmParams& params;
  int batch;

  QUARRY_DEVICE int m() const { return params.m; }
  QUARRY_DEVICE int n() const { return params.n; }
  QUARRY_DEVICE int k() const { return params.k; }
  QUARRY_DEVICE OperandBase a() const { return {batch, 0, 0}; }
  QUARRY_DEVICE OperandBase b() const { return {batch, 0, 0}; }
  /// Of C, too, and of whatever else the epilogue reads and writes.
  QUARRY_DEVICE OperandBase out() const { return {batch, 0, 0}; }
};

/// The work of one block: an output tile of one problem, over one slice of K.
///
/// @tparam Problem tells extents and bases, as BatchEntry does, and the number of the problem in the launch
/// (`batch`). Kernels read them here and not in their parameters, so that a scheduler can hand out tiles of
/// problems that differ.
template <class Problem>
struct WorkOf : Problem {
  int slice;
  int tile_m;
  int tile_n;
  /// K tiles of the slice: the first one and how many; none is possible.
  int first_k_tile;
  int k_tiles;
};
using TileWork = WorkOf<BatchEntry>;

/// Tiles of one batch entry.
QUARRY_DEVICE unsigned tiles(const GemmParams& params) {
  return static_cast<unsigned>(params.tiles_m) * static_cast<unsigned>(params.tiles_n);
}

/// Index of an output tile among the tiles of all batch entries, whatever the order in which they are walked.
template <class Work>
QUARRY_DEVICE long long tile_index(const GemmParams& params, const Work& work) {
  return (static_cast<long long>(work.batch) * params.tiles_m + work.tile_m) * params.tiles_n + work.tile_n;
}

/// A number that the block draws when it starts: whoever holds an earlier one has started as well. Uses the
/// first word of `scratch`, and a barrier.
QUARRY_DEVICE unsigned drawn_ticket(int* counter, arch::SharedAddress scratch) {
  if (arch::thread_index() == 0) {
    arch::shared_store(scratch, static_cast<unsigned>(arch::fetch_add(counter, 1)));
  }
  arch::block_barrier();
  const unsigned ticket = arch::shared_load<unsigned>(scratch);
  arch::block_barrier();  // the main loop will use the word for something else
  return ticket;
}

/// Position of the block in the order of work. Where blocks wait for others (split_k_serial) it is a ticket,
/// so every wait ends, in whatever order the hardware starts blocks.
QUARRY_DEVICE unsigned work_position(const GemmParams& params, arch::SharedAddress scratch) {
  if (params.mode != Mode::split_k_serial) return arch::block_index();
  return drawn_ticket(params.counters + static_cast<long long>(params.batch) * tiles(params), scratch);
}

/// A number in parts of `size`: how many whole ones, and the remainder.
struct Parts {
  unsigned whole;
  unsigned rest;
};

/// The hardware divides in dozens of steps, and most numbers here are less than one part.
QUARRY_DEVICE Parts in_parts(unsigned number, unsigned size) {
  if (number < size) return {0, number};
  const unsigned whole = number / size;
  return {whole, number - whole * size};
}

/// Unfolds a position: batch entry outermost, then slice (so that a slice comes after all earlier slices of
/// its tile), then tiles, in groups of 2^swizzle_log2 columns that are walked row by row, so that blocks
/// which run together share operands. The last group may be narrower. With Raster::along_m, rows and columns
/// change places.
QUARRY_DEVICE TileWork work_at(const GemmParams& params, unsigned position, int tile_k) {
  const Parts outer = in_parts(position, tiles(params));
  const Parts batch = in_parts(outer.whole, static_cast<unsigned>(params.slices));
  TileWork work = {{params, static_cast<int>(batch.whole)}, 0, 0, 0, 0, 0};
  work.slice = static_cast<int>(batch.rest);

  const bool along_m = params.raster == Raster::along_m;
  const unsigned rows = static_cast<unsigned>(along_m ? params.tiles_n : params.tiles_m);
  const unsigned columns = static_cast<unsigned>(along_m ? params.tiles_m : params.tiles_n);
  const unsigned group_width = 1u << params.swizzle_log2;
  const Parts group = in_parts(outer.rest, group_width * rows);
  const unsigned first_column = group.whole * group_width;
  const unsigned columns_left = columns - first_column;
  Parts line = {group.rest >> params.swizzle_log2, group.rest & (group_width - 1)};
  if (columns_left < group_width) line = in_parts(group.rest, columns_left);
  const int row = static_cast<int>(line.whole);
  const int column = static_cast<int>(first_column + line.rest);
  work.tile_m = along_m ? column : row;
  work.tile_n = along_m ? row : column;

  const int all_k_tiles = params.k / tile_k + (params.k % tile_k != 0);
  const long long first = static_cast<long long>(work.slice) * params.k_tiles_per_slice;
  work.first_k_tile = first < all_k_tiles ? static_cast<int>(first) : all_k_tiles;
  work.k_tiles = all_k_tiles - work.first_k_tile;
  if (params.slices > 1 && work.k_tiles > params.k_tiles_per_slice) work.k_tiles = params.k_tiles_per_slice;
  return work;
}

/// Elements of K in the work: its last K tile may reach past the end of K, tiles of another slice do not
/// count.
template <class Work>
QUARRY_DEVICE int k_elements(const Work& work, int tile_k) {
  const int to_end = work.k() - work.first_k_tile * tile_k;
  const long long in_tiles = static_cast<long long>(work.k_tiles) * tile_k;
  return in_tiles < to_end ? static_cast<int>(in_tiles) : to_end;
}

}  // namespace quarry
