/// How operands get from global memory into the stages of a pipeline.
///
/// A source is made for one operand of one block, and a main loop knows of it what follows. Its last K tile
/// is copied first, by `copy_last(stage)`, which looks at every edge: elements outside the operand are never
/// read and become zero. They must be along K, as zero times the other operand's zero adds nothing; along M
/// and N their sums are dropped. All other tiles are whole along K, so their copies, which the main loop is
/// full of, cost little more than the copy itself: `start(stage, part, parts)` for each part of a tile, so
/// that copies can be spread among other work; `finish(stage, more)` when all parts are started; then the
/// next tile. After the last one, tiles of zeros follow.
#pragma once

#include "arch/arch.hpp"
#include "common/interleaved.hpp"
#include "common/matrix_view.cuh"
#include "common/operand_part.cuh"
#include "common/operand_tile.cuh"
#include "common/piece_map.hpp"

namespace quarry {

/// Where the tiles of one operand lie for one block, in lines.
struct OperandLines {
  const void* first;      ///< first element of the block's first tile
  long long line_stride;  ///< elements from one line to the next
  int extent_left;        ///< elements of the operand from there on along M or N
  int k_left;             ///< and along K
  int k_tiles;            ///< K tiles of the block, at least 1
  long long k_stride;     ///< where K is grouped: from one group to the next
};

QUARRY_DEVICE OperandLines operand_lines(const OperandPart& part, OperandTile tile) {
  const long long offset = batch_offset(part.matrix, part.batch, tile.element_bytes) +
                           (part.extent.base + part.extent.first) * part.extent.stride +
                           distance(tile.interleaved, part.k.base + part.k.first, part.k.stride);
  return {static_cast<const char*>(part.matrix.data) + offset * tile.element_bytes,
          tile.k_contiguous ? part.extent.stride : part.k.stride,
          part.extent.end - part.extent.first,
          part.k.end - part.k.first,
          part.k_tiles,
          part.k.stride};
}

/// Which pieces of a tile a thread copies, and where they go.
template <OperandTile tile, int piece_elements, int threads>
class PiecePlaces {
 public:
  static constexpr PieceMap map = piece_map(tile, piece_elements, threads);

  /// Whether the thread has a piece in a round at all: a tile may have fewer lines than the block covers at a
  /// time.
  QUARRY_DEVICE static bool takes_part(int line_round) {
    if (tile.lines() % map.line_step == 0) return true;
    return line() + line_round * map.line_step < tile.lines();
  }

  /// Where the thread's first piece goes, from the start of the operand's tile.
  QUARRY_DEVICE static int first_shared_offset() {
    return tile.shared().offset(line(), element() / tile.chunk_elements()) +
           element() % tile.chunk_elements() * tile.element_bytes;
  }
  /// The same of another one. @param first first_shared_offset(), which is computed once
  QUARRY_DEVICE static int shared_offset(int first, int line_round, int column_round) {
    const int line = line_round * map.line_step;
    const int permuted =
        first ^ tile.shared().key(line) * tile.chunk_bytes();  // linear in the bits of the line
    return permuted + line * tile.line_elements() * tile.element_bytes + column_bytes(column_round);
  }

  /// This thread's first line and its first element in each line.
  QUARRY_DEVICE static int line() { return arch::thread_index() / map.threads_per_line; }
  QUARRY_DEVICE static int element() { return arch::thread_index() % map.threads_per_line * piece_elements; }
  static constexpr int column_bytes(int column_round) {
    return column_round * map.threads_per_line * piece_elements * tile.element_bytes;
  }
  /// How far along M or N, and along K, a piece begins.
  QUARRY_DEVICE static int extent_offset(int line_round, int column_round) {
    return tile.k_contiguous ? line_offset(line_round) : column_offset(column_round);
  }
  QUARRY_DEVICE static int k_offset(int line_round, int column_round) {
    return tile.k_contiguous ? column_offset(column_round) : line_offset(line_round);
  }

 private:
  static_assert(is_shared_evenly(map, threads), "each thread's lines are permuted alike");

  QUARRY_DEVICE static int line_offset(int round) { return line() + round * map.line_step; }
  QUARRY_DEVICE static int column_offset(int round) {
    return element() + round * map.threads_per_line * piece_elements;
  }
};

/// The walk of one thread over a matrix's K tiles, that its sources share: where the pieces lie.
template <OperandTile tile, int piece_elements, int threads>
class PieceWalk : public PiecePlaces<tile, piece_elements, threads> {
  using Places = PiecePlaces<tile, piece_elements, threads>;

 public:
  using Lines = OperandLines;
  using Places::column_bytes;
  using Places::element;
  using Places::extent_offset;
  using Places::line;
  using Places::map;

  /// Starts at the first tile, which is zeros if there is only one: `copy_last` takes that.
  QUARRY_DEVICE explicit PieceWalk(const OperandLines& lines) {
    const long long line_bytes = lines.line_stride * tile.element_bytes;
    group_bytes_ = tile.interleaved ? lines.k_stride * tile.element_bytes : 0;
    cursor_ = static_cast<const char*>(lines.first) + (line() * line_bytes + element_distance());
    round_bytes_ = map.line_step * line_bytes;
    rewind_bytes_ = tile_bytes(lines) - map.line_rounds * round_bytes_;
    shared_offset_ = Places::first_shared_offset();
    present_ = 0;
    if (lines.k_tiles == 1) return;
    QUARRY_UNROLL
    for (int round = 0; round < edge_rounds; ++round) {
      if (extent_offset(round, round) < lines.extent_left) present_ |= 1u << round;
    }
  }

  /// Not 0 if any of a piece exists, in the tile that the walk has reached.
  QUARRY_DEVICE unsigned present(int line_round, int column_round) const {
    return present_ & 1u << (tile.k_contiguous ? line_round : column_round);
  }

  /// Where a piece lies. Rounds must be asked for in order, with `next_round` after each.
  QUARRY_DEVICE const char* address(int /*line_round*/, int column_round) const {
    return cursor_ + column_distance(column_round);
  }

  /// Where a piece goes, from the start of the operand's tile.
  QUARRY_DEVICE int shared_offset(int line_round, int column_round) const {
    return Places::shared_offset(shared_offset_, line_round, column_round);
  }

  QUARRY_DEVICE void next_round() { cursor_ += round_bytes_; }

  /// Goes on to the next tile; if there are no `more`, to zeros.
  QUARRY_DEVICE void next_tile(bool more) {
    cursor_ += rewind_bytes_;
    if (!more) present_ = 0;
  }

  /// A piece of the block's last tile, which may reach past the operand on both extents.
  struct LastPiece {
    const char* address;
    int valid_elements;  ///< the first so many exist
  };
  QUARRY_DEVICE LastPiece last_piece(const OperandLines& lines, int line_round, int column_round) const {
    const int tiles_before = lines.k_tiles - 1;
    const int lines_left = tile.k_contiguous ? lines.extent_left : lines.k_left - tiles_before * tile.k;
    const int elements_left = tile.k_contiguous ? lines.k_left - tiles_before * tile.k : lines.extent_left;
    const int left = elements_left - element() - column_round * map.threads_per_line * piece_elements;
    const int in_line = left < 0 ? 0 : left < piece_elements ? left : piece_elements;
    const int valid = line() + line_round * map.line_step < lines_left ? in_line : 0;
    if (valid == 0) return {static_cast<const char*>(lines.first), 0};
    return {cursor_ + tiles_before * tile_bytes(lines) + line_round * round_bytes_ +
                column_distance(column_round),
            valid};
  }

  /// Elements of a piece that lie before the operand's edge along M or N, 1 at least, where such an edge can
  /// cut a piece.
  QUARRY_DEVICE int before_edge(const OperandLines& lines, int column_round) const {
    const int left = lines.extent_left - extent_offset(0, column_round);
    return tile.k_contiguous || left > piece_elements ? piece_elements : left;
  }

 protected:
  static constexpr int edge_rounds = quarry::edge_rounds(tile, map);
  static_assert(edge_rounds <= most_edge_rounds, "a bit for each");

  /// Bytes from a line's first element to that one.
  QUARRY_DEVICE long long element_distance() const {
    if constexpr (tile.interleaved) {
      const int group = element() / interleave;
      return group * group_bytes_ + element() % interleave * tile.element_bytes;
    }
    return element() * tile.element_bytes;
  }
  QUARRY_DEVICE static long long tile_bytes(const OperandLines& lines) {
    if constexpr (tile.interleaved) return tile.k / interleave * tile.element_bytes * lines.k_stride;
    return tile.k * tile.element_bytes * (tile.k_contiguous ? 1 : lines.line_stride);
  }
  /// Bytes of memory from a thread's piece of the first round to its piece of another one.
  QUARRY_DEVICE long long column_distance(int column_round) const {
    if constexpr (tile.interleaved) {
      constexpr int elements = map.threads_per_line * piece_elements;
      static_assert(map.column_rounds == 1 || elements % interleave == 0, "rounds begin with a group");
      return column_round * (elements / interleave) * group_bytes_;
    }
    return column_bytes(column_round);
  }

  const char* cursor_;
  long long group_bytes_;  // from one group of K to the next, where it is grouped
  long long round_bytes_;
  long long rewind_bytes_;  // from past the last round of a tile to the next tile
  int shared_offset_;
  unsigned present_;  // a bit for each round along M or N
};

/// Where the tiles of gated pairs lie: the first halves of a tile as usual, the second halves further on.
struct GatedLines : OperandLines {
  /// Elements from a first half to its second half.
  long long distance;
};

QUARRY_DEVICE GatedLines gated_lines(const OperandPart& part, OperandTile tile) {
  return {operand_lines(part, tile), part.extent.end * part.extent.stride};
}

/// The walk over the columns of gated pairs: half a tile along N, then the other half.
template <OperandTile tile, int piece_elements, int threads>
class GatedWalk : public PieceWalk<tile, piece_elements, threads> {
  using Walk = PieceWalk<tile, piece_elements, threads>;
  static constexpr int half = tile.extent / 2;
  static_assert(half % piece_elements == 0 && !tile.interleaved, "a piece is of one half");

 public:
  using Lines = GatedLines;
  using LastPiece = typename Walk::LastPiece;
  using Walk::map;

  QUARRY_DEVICE explicit GatedWalk(const GatedLines& lines) : Walk(lines) {
    const long long extent_stride = tile.k_contiguous ? lines.line_stride : 1;
    jump_ = (lines.distance - half * extent_stride) * tile.element_bytes;
    if (lines.k_tiles == 1) return;
    this->present_ = 0;
    QUARRY_UNROLL
    for (int round = 0; round < Walk::edge_rounds; ++round) {
      if (place(round, round) < lines.extent_left) this->present_ |= 1u << round;
    }
  }

  QUARRY_DEVICE const char* address(int line_round, int column_round) const {
    return Walk::address(line_round, column_round) + jump(line_round, column_round);
  }

  QUARRY_DEVICE LastPiece last_piece(const GatedLines& lines, int line_round, int column_round) const {
    // The walk counts from the tile's first column; what it compares with lies as much further on.
    GatedLines own = lines;
    if (is_second(line_round, column_round)) own.extent_left += half;
    LastPiece piece = Walk::last_piece(own, line_round, column_round);
    if (piece.valid_elements > 0) piece.address += jump(line_round, column_round);
    return piece;
  }

  QUARRY_DEVICE int before_edge(const GatedLines& lines, int column_round) const {
    GatedLines own = lines;
    if (is_second(0, column_round)) own.extent_left += half;
    return Walk::before_edge(own, column_round);
  }

 private:
  QUARRY_DEVICE static bool is_second(int line_round, int column_round) {
    return Walk::extent_offset(line_round, column_round) >= half;
  }
  /// The column within its half.
  QUARRY_DEVICE static int place(int line_round, int column_round) {
    const int offset = Walk::extent_offset(line_round, column_round);
    return offset >= half ? offset - half : offset;
  }
  QUARRY_DEVICE long long jump(int line_round, int column_round) const {
    return is_second(line_round, column_round) ? jump_ : 0;
  }

  long long jump_;  // bytes more from a first half to its second half than in the tile
};

/// Copies pieces of 4 bytes or more: asynchronously, as wide as the alignment allows.
///
/// Where lines run along M or N, a piece at the operand's edge is copied whole, but in the last tile: lines
/// are a piece or more apart, so what follows the edge of a line still lies before the end of the operand's
/// last line. (Lines that are 0 apart end where the operand ends; of them the host must promise no more
/// alignment than divides their extent.)
template <OperandTile tile, int threads, template <OperandTile, int, int> class WalkOf = PieceWalk>
class AsyncSource {
  using Walk = WalkOf<tile, tile.alignment, threads>;
  using Lines = typename Walk::Lines;

 public:
  QUARRY_DEVICE explicit AsyncSource(const Lines& lines) : lines_(lines), walk_(lines) {}

  QUARRY_DEVICE void copy_last(arch::SharedAddress stage) {
    QUARRY_ROLLED
    for (int line_round = 0; line_round < Walk::map.line_rounds; ++line_round) {
      if (!walk_.takes_part(line_round)) continue;
      QUARRY_ROLLED
      for (int column_round = 0; column_round < Walk::map.column_rounds; ++column_round) {
        const auto piece = walk_.last_piece(lines_, line_round, column_round);
        arch::copy_async<bytes>(stage + walk_.shared_offset(line_round, column_round), piece.address,
                                piece.valid_elements * tile.element_bytes);
      }
    }
  }

  QUARRY_DEVICE void start(arch::SharedAddress stage, int part, int parts) {
    constexpr int pieces = Walk::map.pieces();
    QUARRY_UNROLL
    for (int piece = 0; piece < pieces; ++piece) {
      if (piece < part * pieces / parts || piece >= (part + 1) * pieces / parts) continue;
      const int line_round = piece / Walk::map.column_rounds;
      const int column_round = piece % Walk::map.column_rounds;
      if (walk_.takes_part(line_round)) {
        arch::copy_async_or_zero<bytes>(stage + walk_.shared_offset(line_round, column_round),
                                        walk_.address(line_round, column_round),
                                        walk_.present(line_round, column_round));
      }
      if (column_round == Walk::map.column_rounds - 1) walk_.next_round();
    }
  }

  QUARRY_DEVICE void finish(arch::SharedAddress, bool more) { walk_.next_tile(more); }

 private:
  static constexpr int bytes = tile.alignment * tile.element_bytes;

  Lines lines_;
  Walk walk_;
};

/// Copies operands that are aligned to their elements only: one by one into registers when started,
/// into shared memory as whole chunks when finished, so that the work in between hides the latency.
template <OperandTile tile, int threads, template <OperandTile, int, int> class WalkOf = PieceWalk>
class RegisterSource {
  using Walk = WalkOf<tile, tile.chunk_elements(), threads>;
  using Lines = typename Walk::Lines;

 public:
  QUARRY_DEVICE explicit RegisterSource(const Lines& lines) : lines_(lines), walk_(lines) {
    QUARRY_UNROLL
    for (int i = 0; i < Walk::map.column_rounds; ++i) before_edge_[i] = walk_.before_edge(lines, i);
  }

  QUARRY_DEVICE void copy_last(arch::SharedAddress stage) {
    QUARRY_ROLLED
    for (int line_round = 0; line_round < Walk::map.line_rounds; ++line_round) {
      if (!walk_.takes_part(line_round)) continue;
      QUARRY_ROLLED
      for (int column_round = 0; column_round < Walk::map.column_rounds; ++column_round) {
        const auto piece = walk_.last_piece(lines_, line_round, column_round);
        arch::shared_store(stage + walk_.shared_offset(line_round, column_round),
                           fetch(piece.address, piece.valid_elements));
      }
    }
  }

  QUARRY_DEVICE void start(arch::SharedAddress, int part, int) {
    if (part != 0) return;
    QUARRY_UNROLL
    for (int piece = 0; piece < Walk::map.pieces(); ++piece) {
      const int line_round = piece / Walk::map.column_rounds;
      const int column_round = piece % Walk::map.column_rounds;
      const bool exists = walk_.takes_part(line_round) && walk_.present(line_round, column_round) != 0;
      const int valid = exists ? before_edge_[column_round] : 0;
      fetched_[piece] = fetch(walk_.address(line_round, column_round), valid);
      if (column_round == Walk::map.column_rounds - 1) walk_.next_round();
    }
  }

  QUARRY_DEVICE void finish(arch::SharedAddress stage, bool more) {
    QUARRY_UNROLL
    for (int piece = 0; piece < Walk::map.pieces(); ++piece) {
      const int line_round = piece / Walk::map.column_rounds;
      if (!walk_.takes_part(line_round)) continue;
      arch::shared_store(stage + walk_.shared_offset(line_round, piece % Walk::map.column_rounds),
                         fetched_[piece]);
    }
    walk_.next_tile(more);
  }

 private:
  using Chunk = arch::Vector<unsigned, tile.chunk_bytes() / 4>;

  QUARRY_DEVICE static unsigned load(const char* element) {
    if constexpr (tile.element_bytes == 1) return arch::global_load<unsigned char>(element);
    return arch::global_load<unsigned short>(element);
  }

  /// The first `valid` elements at `from`, zeros after them.
  QUARRY_DEVICE static Chunk fetch(const char* from, int valid) {
    Chunk chunk = {};
    constexpr int per_word = 4 / tile.element_bytes;
    QUARRY_UNROLL
    for (int i = 0; i < tile.chunk_elements(); ++i) {
      unsigned element = 0;
      if (i < valid) element = load(from + i * tile.element_bytes);
      chunk.v[i / per_word] |= element << i % per_word * (32 / per_word);
    }
    return chunk;
  }

  Lines lines_;
  Walk walk_;
  int before_edge_[Walk::map.column_rounds];
  Chunk fetched_[Walk::map.pieces()];
};

/// cp.async moves 4 bytes or more.
constexpr bool copies_asynchronously(const OperandTile& tile) {
  return tile.alignment * tile.element_bytes >= 4;
}

/// The source for an operand's alignment.
template <OperandTile tile, int threads, bool asynchronous>
struct SourceOf {
  using Type = AsyncSource<tile, threads>;
  using Gated = AsyncSource<tile, threads, GatedWalk>;
};
template <OperandTile tile, int threads>
struct SourceOf<tile, threads, false> {
  using Type = RegisterSource<tile, threads>;
  using Gated = RegisterSource<tile, threads, GatedWalk>;
};

}  // namespace quarry
