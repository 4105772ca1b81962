/// How operands that are gathered from tensors get into the stages of a pipeline: sources as
/// common/operand_copy.cuh describes them. Here tiles come in order, and each copy looks at every edge. So
/// what a main loop calls the last tile is the first one, and the tiles of zeros come by themselves.
#pragma once

#include "common/operand_copy.cuh"
#include "conv2d_sm80/gatherer.cuh"

namespace quarry::conv2d_sm80 {

/// Copies pieces of 4 bytes or more, whose elements are channels of one pixel or tap: asynchronously.
template <class Gather, OperandTile tile, int threads>
class AsyncGather {
 public:
  QUARRY_DEVICE AsyncGather(const Conv2dParams& params, const GatheredPart& part)
      : gather_(params, part), first_shared_offset_(Places::first_shared_offset()) {
    QUARRY_UNROLL
    for (int i = 0; i < extents; ++i) extents_[i] = gather_.along_extent(Places::extent_offset(i, i));
  }

  QUARRY_DEVICE void copy_last(arch::SharedAddress stage) {
    start(stage, 0, 1);
    gather_.next_tile(tile.k);
  }

  QUARRY_DEVICE void start(arch::SharedAddress stage, int part, int parts) {
    constexpr int pieces = Places::map.pieces();
    const int first = part * pieces / parts;
    QUARRY_UNROLL
    for (int piece = 0; piece < pieces; ++piece) {
      if (piece < first || piece >= (part + 1) * pieces / parts) continue;
      const int line_round = piece / Places::map.column_rounds;
      const int column_round = piece % Places::map.column_rounds;
      Share& k = along_k_[tile.k_contiguous ? column_round : 0];
      const bool is_new = tile.k_contiguous ? line_round == 0 : column_round == 0 || piece == first;
      if (is_new) k = gather_.along_k(Places::k_offset(line_round, column_round));
      if (!Places::takes_part(line_round)) continue;
      const Found found = gather_.find(extents_[tile.k_contiguous ? line_round : column_round], k);
      arch::copy_async_or_zero<bytes>(
          stage + Places::shared_offset(first_shared_offset_, line_round, column_round), found.address,
          static_cast<unsigned>(found.exists));
    }
  }

  QUARRY_DEVICE void finish(arch::SharedAddress, bool) { gather_.next_tile(tile.k); }

 private:
  using Places = PiecePlaces<tile, tile.alignment, threads>;
  static constexpr int bytes = tile.alignment * tile.element_bytes;
  static constexpr int extents = edge_rounds(tile, Places::map);

  Gather gather_;
  int first_shared_offset_;
  Share extents_[extents];
  Share along_k_[tile.k_contiguous ? Places::map.column_rounds : 1];  // of the tile, as far as it was begun
};

/// Copies elements of 2 bytes that are aligned to nothing else, and may each lie in another pixel or tap: one
/// by one into registers when started, into shared memory as whole chunks when finished.
template <class Gather, OperandTile tile, int threads, Iterator iterator>
class RegisterGather {
 public:
  QUARRY_DEVICE RegisterGather(const Conv2dParams& params, const GatheredPart& part)
      : gather_(params, part), first_shared_offset_(Places::first_shared_offset()) {
    if constexpr (tile.k_contiguous) {
      QUARRY_UNROLL
      for (int i = 0; i < lines; ++i) lines_[i] = gather_.along_extent(Places::extent_offset(i, 0));
    }
  }

  QUARRY_DEVICE void copy_last(arch::SharedAddress stage) {
    start(stage, 0, 1);
    finish(stage, true);
  }

  QUARRY_DEVICE void start(arch::SharedAddress, int part, int) {
    if (part != 0) return;
    if constexpr (!tile.k_contiguous) {
      QUARRY_UNROLL
      for (int i = 0; i < lines; ++i) lines_[i] = gather_.along_k(Places::k_offset(i, 0));
    }
    QUARRY_UNROLL
    for (int column = 0; column < columns; ++column) fetch_column(column);
  }

  QUARRY_DEVICE void finish(arch::SharedAddress stage, bool) {
    QUARRY_UNROLL
    for (int piece = 0; piece < lines * columns; ++piece) {
      if (!Places::takes_part(piece / columns)) continue;
      arch::shared_store(
          stage + Places::shared_offset(first_shared_offset_, piece / columns, piece % columns),
          fetched_[piece]);
    }
    gather_.next_tile(tile.k);
  }

 private:
  static_assert(tile.element_bytes == 2);
  using Places = PiecePlaces<tile, tile.chunk_elements(), threads>;
  using Chunk = arch::Vector<unsigned, tile.chunk_bytes() / 4>;
  static constexpr int lines = Places::map.line_rounds;
  static constexpr int columns = Places::map.column_rounds;
  static constexpr int elements = tile.chunk_elements();

  /// Reads a chunk, of all lines.
  QUARRY_DEVICE void fetch_column(int column) {
    if constexpr (iterator == Iterator::few_channels) {
      const int first = Places::k_offset(0, column);
      Index3 at = gather_.tap(first);
      QUARRY_UNROLL
      for (int i = 0; i < elements; ++i) {
        fetch(column, i, gather_.along_tap(at, first + i));
        at = gather_.next(at);
      }
    } else {
      QUARRY_UNROLL
      for (int i = 0; i < elements; ++i) fetch(column, i, share(column, i));
    }
  }

  /// The share of one element of a chunk, which is its lines' share.
  QUARRY_DEVICE Share share(int column, int element) const {
    return tile.k_contiguous ? gather_.along_k(Places::k_offset(0, column) + element)
                             : gather_.along_extent(Places::extent_offset(0, column) + element);
  }

  /// Reads one element of a chunk, of all lines.
  QUARRY_DEVICE void fetch(int column, int element, const Share& along_line) {
    QUARRY_UNROLL
    for (int i = 0; i < lines; ++i) {
      const Found found =
          tile.k_contiguous ? gather_.find(lines_[i], along_line) : gather_.find(along_line, lines_[i]);
      unsigned value = 0;
      if (found.exists && Places::takes_part(i)) value = arch::global_load<unsigned short>(found.address);
      unsigned& word = fetched_[i * columns + column].v[element / 2];
      word = element % 2 == 0 ? value : word | value << 16;
    }
  }

  Gather gather_;
  int first_shared_offset_;
  Share lines_[lines];
  Chunk fetched_[lines * columns];
};

/// The source for an operand's alignment.
template <class Gather, OperandTile tile, int threads, Iterator iterator, bool asynchronous>
struct SourceOf {
  using Type = AsyncGather<Gather, tile, threads>;
};
template <class Gather, OperandTile tile, int threads, Iterator iterator>
struct SourceOf<Gather, tile, threads, iterator, false> {
  using Type = RegisterGather<Gather, tile, threads, iterator>;
};

}  // namespace quarry::conv2d_sm80
