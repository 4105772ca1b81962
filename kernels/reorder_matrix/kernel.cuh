/// Copies matrices from one layout to another.
#pragma once

#include "arch/arch.hpp"
#include "common/matrix_view.cuh"
#include "reorder_matrix/config.hpp"
#include "reorder_matrix/lines.cuh"
#include "reorder_matrix/params.hpp"
#include "reorder_matrix/turn_pieces.cuh"

namespace quarry::reorder_matrix {

/// Four neighbours of a line: where they are in the tile and in the matrix, and how many of them exist.
struct QuadPlace {
  int tile_line;
  int tile_element;
  int line;
  int element;
  int count;
};

/// Neighbouring threads take neighbouring fours of 32 elements of a line, then elements of the next lines:
/// what lies together in an interleaved matrix, and whole sectors of any other.
QUARRY_DEVICE QuadPlace place_of(const ReorderParams& params, const ReorderSide& side, const Tile& tile,
                                 int index) {
  constexpr int quads = interleave / 4;
  QuadPlace place;
  place.tile_line = index / quads % tile_extent;
  place.tile_element = index / (quads * tile_extent) * interleave + index % quads * 4;
  place.line = (side.lines_are_rows ? tile.first_row : tile.first_column) + place.tile_line;
  place.element = (side.lines_are_rows ? tile.first_column : tile.first_row) + place.tile_element;
  const int lines = side.lines_are_rows ? params.rows : params.columns;
  const int left = (side.lines_are_rows ? params.columns : params.rows) - place.element;
  place.count = place.line >= lines || left < 0 ? 0 : left < 4 ? left : 4;
  return place;
}

/// One side of a tile, read or written four elements at a time.
template <class T>
class QuadLines {
 public:
  QUARRY_DEVICE QuadLines(const ReorderSide& side, int batch)
      : lines_(side), batch_(batch), aligned_(lines_.moves(alignof(Quad<T>))) {}

  QUARRY_DEVICE Quad<T> load(const QuadPlace& place) const {
    if (aligned_ && place.count == 4) return arch::global_load<Quad<T>>(at(place, 0));
    Quad<T> quad = {};
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (i < place.count) quad.v[i] = arch::global_load<T>(at(place, i));
    }
    return quad;
  }

  QUARRY_DEVICE void store(const QuadPlace& place, const Quad<T>& quad) const {
    if (aligned_ && place.count == 4) {
      arch::global_store(at(place, 0), quad);
      return;
    }
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (i < place.count) arch::global_store(at(place, i), quad.v[i]);
    }
  }

 private:
  QUARRY_DEVICE T* at(const QuadPlace& place, int i) const {
    return lines_.at(batch_, place.line, place.element + i);
  }

  Lines<T> lines_;
  int batch_;
  bool aligned_;
};

/// Where a piece is among the lines of both matrices, and how many of its elements exist.
struct PiecePlace {
  int batch;
  int line;
  int element;
  int count;
};

/// The pieces of matrices with the same lines, one line after another, one matrix of the batch after another.
class Pieces {
 public:
  QUARRY_DEVICE Pieces(const ReorderParams& params, int elements)
      : elements_(elements),
        length_(params.from.lines_are_rows ? params.columns : params.rows),
        lines_(static_cast<unsigned>(params.from.lines_are_rows ? params.rows : params.columns)),
        of_line_(static_cast<unsigned>(length_ / elements + (length_ % elements != 0))) {}

  QUARRY_DEVICE long long count(int batch) const { return static_cast<long long>(of_line_) * lines_ * batch; }

  /// Goes to a piece, from which the next ones are counted.
  QUARRY_DEVICE void go_to(long long piece) {
    const long long line = piece / of_line_;
    rest_ = static_cast<unsigned>(piece % of_line_);
    line_ = static_cast<unsigned>(line % lines_);
    batch_ = static_cast<int>(line / lines_);
  }

  /// @param ahead fewer than a block has
  QUARRY_DEVICE PiecePlace at(int ahead) const {
    const unsigned piece = rest_ + static_cast<unsigned>(ahead);
    const unsigned line = line_ + piece / of_line_;
    const int element = static_cast<int>(piece % of_line_) * elements_;
    const int left = length_ - element;
    return {batch_ + static_cast<int>(line / lines_), static_cast<int>(line % lines_), element,
            left < elements_ ? left : elements_};
  }

 private:
  int elements_;
  int length_;
  unsigned lines_;
  unsigned of_line_;
  unsigned rest_ = 0;
  unsigned line_ = 0;
  int batch_ = 0;
};

/// Copies matrices with the same lines. All pieces of a thread are on their way before the first is stored.
template <Config config, class T>
QUARRY_DEVICE void copy_pieces(const ReorderParams& params, const Lines<T>& from, const Lines<T>& to) {
  constexpr int elements = piece_bytes / sizeof(T);
  constexpr int of_block = threads(config) * pieces_of_thread;
  Pieces pieces(params, elements);
  const long long count = pieces.count(params.batch);
  const long long step = static_cast<long long>(arch::grid_blocks()) * of_block;
  QUARRY_ROLLED
  for (long long first = static_cast<long long>(arch::block_index()) * of_block; first < count;
       first += step) {
    pieces.go_to(first);
    Piece values[pieces_of_thread] = {};
    PiecePlace places[pieces_of_thread];
    QUARRY_UNROLL
    for (int turn = 0; turn < pieces_of_thread; ++turn) {
      const int ahead = turn * threads(config) + arch::thread_index();
      PiecePlace& place = places[turn];
      place = pieces.at(ahead);
      if (first + ahead >= count) place.count = 0;
      if (place.count == elements)
        values[turn] = arch::global_load<Piece>(from.at(place.batch, place.line, place.element));
    }
    QUARRY_UNROLL
    for (int turn = 0; turn < pieces_of_thread; ++turn) {
      const PiecePlace& place = places[turn];
      if (place.count == elements) {
        arch::global_store(to.at(place.batch, place.line, place.element), values[turn]);
        continue;
      }
      QUARRY_ROLLED
      for (int i = 0; i < place.count; ++i) {
        arch::global_store(to.at(place.batch, place.line, place.element + i),
                           arch::global_load<T>(from.at(place.batch, place.line, place.element + i)));
      }
    }
  }
}

/// Reads a tile along the lines of one matrix, writes it along the lines of the other.
template <Config config, class T>
QUARRY_DEVICE void turn_tile(const ReorderParams& params, const Tile& tile) {
  constexpr int quads = tile_extent * tile_extent / 4;
  const arch::SharedAddress staged = arch::shared_memory();
  const auto staged_at = [&](const ReorderSide& side, const QuadPlace& place, int i) {
    const int line = place.tile_line;
    const int element = place.tile_element + i;
    const int offset =
        side.lines_are_rows ? line * row_elements(config) + element : element * row_elements(config) + line;
    return staged + offset * element_bytes(config);
  };

  const QuadLines<T> from(params.from, tile.batch);
  for (int index = arch::thread_index(); index < quads; index += threads(config)) {
    const QuadPlace place = place_of(params, params.from, tile, index);
    const Quad<T> quad = from.load(place);
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (i < place.count) arch::shared_store(staged_at(params.from, place, i), quad.v[i]);
    }
  }
  arch::block_barrier();
  const QuadLines<T> to(params.to, tile.batch);
  for (int index = arch::thread_index(); index < quads; index += threads(config)) {
    const QuadPlace place = place_of(params, params.to, tile, index);
    Quad<T> quad = {};
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (i < place.count) quad.v[i] = arch::shared_load<T>(staged_at(params.to, place, i));
    }
    to.store(place, quad);
  }
}

/// The kernel: blocks walk over pieces or tiles.
template <Config config>
QUARRY_DEVICE void kernel(const ReorderParams& params) {
  using T = typename ElementOf<element_bytes(config)>::Type;
  const Lines<T> from(params.from);
  const Lines<T> to(params.to);
  const bool same_lines = params.from.lines_are_rows == params.to.lines_are_rows;
  if (from.moves(piece_bytes) && to.moves(piece_bytes)) {
    if (same_lines)
      copy_pieces<config>(params, from, to);
    else
      turn_pieces<config, T>(params);
    return;
  }
  const long long count = tiles(params.rows, params.columns, params.batch);
  QUARRY_ROLLED
  for (long long i = arch::block_index(); i < count; i += arch::grid_blocks()) {
    turn_tile<config, T>(params, tile_at(params, tile_extent, i));
    arch::block_barrier();  // the tile has been read
  }
}

}  // namespace quarry::reorder_matrix
