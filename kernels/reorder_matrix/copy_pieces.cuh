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
  /// Goes to piece `first`. @param step pieces from there to the block's next ones. Neither exceeds what the
  /// grid has at a time, so that short numbers are divided: long ones, before each piece, took 2 of 24 us of
  /// a copy of 4096x4097 bf16 on an H200.
  QUARRY_DEVICE Pieces(const ReorderParams& params, int elements, unsigned first, unsigned step)
      : elements_(elements),
        length_(params.from.lines_are_rows ? params.columns : params.rows),
        lines_(static_cast<unsigned>(params.from.lines_are_rows ? params.rows : params.columns)),
        of_line_(static_cast<unsigned>(length_ / elements + (length_ % elements != 0))),
        here_(parts(first)),
        step_(parts(step)) {}

  QUARRY_DEVICE long long count(int batch) const { return static_cast<long long>(of_line_) * lines_ * batch; }

  /// Goes on to the block's next pieces.
  QUARRY_DEVICE void advance() {
    here_.rest += step_.rest;
    here_.line += step_.line;
    here_.batch += step_.batch;
    if (here_.rest >= of_line_) {
      here_.rest -= of_line_;
      ++here_.line;
    }
    if (here_.line >= lines_) {
      here_.line -= lines_;
      ++here_.batch;
    }
  }

  /// @param ahead fewer than a block has
  QUARRY_DEVICE PiecePlace at(int ahead) const {
    const unsigned piece = here_.rest + static_cast<unsigned>(ahead);
    const unsigned line = here_.line + piece / of_line_;
    const int element = static_cast<int>(piece % of_line_) * elements_;
    const int left = length_ - element;
    return {here_.batch + static_cast<int>(line / lines_), static_cast<int>(line % lines_), element,
            left < elements_ ? left : elements_};
  }

 private:
  /// A number of pieces: whole batch entries, whole lines, and the rest.
  struct Parts {
    int batch;
    unsigned line;
    unsigned rest;
  };
  QUARRY_DEVICE Parts parts(unsigned pieces) const {
    const unsigned line = pieces / of_line_;
    return {static_cast<int>(line / lines_), line % lines_, pieces % of_line_};
  }

  int elements_;
  int length_;
  unsigned lines_;
  unsigned of_line_;
  Parts here_;
  Parts step_;
};

/// Copies matrices with the same lines. All pieces of a thread are on their way before the first is stored.
template <Config config, class T, class Lines>
QUARRY_DEVICE void copy_pieces(const ReorderParams& params) {
  constexpr int of_piece = piece_bytes / sizeof(T);
  constexpr int at_once = Lines::pieces_at_once;
  constexpr int of_block = threads(config) * at_once;
  const Lines from(params.from, params);
  const Lines to(params.to, params);
  const unsigned begin = static_cast<unsigned>(arch::block_index()) * of_block;
  const unsigned step = static_cast<unsigned>(arch::grid_blocks()) * of_block;
  Pieces pieces(params, of_piece, begin, step);
  const long long count = pieces.count(params.batch);
  QUARRY_ROLLED
  for (long long first = begin; first < count; first += step, pieces.advance()) {
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
      if (place.count == 0) continue;
      T* const rest = to.at(place.batch, place.line, place.element);
      move_elements(from.at(place.batch, place.line, place.element), from.step(), place.count,
                    [&](int i, T value) { arch::global_store(rest + i * to.step(), value); });
    }
  }
}

}  // namespace quarry::reorder_matrix
