/// Copies matrices with the same lines.
#pragma once

#include "arch/arch.hpp"
#include "reorder_matrix/config.hpp"
#include "reorder_matrix/lines.cuh"
#include "reorder_matrix/params.hpp"

namespace quarry::reorder_matrix {

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
template <Config config, class T, class Lines>
QUARRY_DEVICE void copy_pieces(const ReorderParams& params) {
  constexpr int of_piece = piece_bytes / sizeof(T);
  constexpr int at_once = Lines::pieces_at_once;
  constexpr int of_block = threads(config) * at_once;
  const Lines from(params.from);
  const Lines to(params.to);
  Pieces pieces(params, of_piece);
  const long long count = pieces.count(params.batch);
  const long long step = static_cast<long long>(arch::grid_blocks()) * of_block;
  QUARRY_ROLLED
  for (long long first = static_cast<long long>(arch::block_index()) * of_block; first < count;
       first += step) {
    pieces.go_to(first);
    Piece values[at_once] = {};
    PiecePlace places[at_once];
    QUARRY_UNROLL
    for (int turn = 0; turn < at_once; ++turn) {
      const int ahead = turn * threads(config) + arch::thread_index();
      PiecePlace& place = places[turn];
      place = pieces.at(ahead);
      if (first + ahead >= count) place.count = 0;
      if (place.count == of_piece) values[turn] = from.load(from.at(place.batch, place.line, place.element));
    }
    QUARRY_UNROLL
    for (int turn = 0; turn < at_once; ++turn) {
      const PiecePlace& place = places[turn];
      if (place.count == of_piece) {
        to.store(to.at(place.batch, place.line, place.element), values[turn]);
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

}  // namespace quarry::reorder_matrix
