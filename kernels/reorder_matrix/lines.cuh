/// The matrices of a reorder as the device code sees them: tiles, and lines, of which pieces are moved.
#pragma once

#include "arch/arch.hpp"
#include "common/interleaved.hpp"
#include "reorder_matrix/config.hpp"
#include "reorder_matrix/params.hpp"

namespace quarry::reorder_matrix {

/// What moves an element of so many bytes.
template <int bytes>
struct ElementOf;
template <>
struct ElementOf<1> {
  using Type = unsigned char;
};
template <>
struct ElementOf<2> {
  using Type = unsigned short;
};
template <>
struct ElementOf<4> {
  using Type = unsigned;
};
template <>
struct ElementOf<8> {
  using Type = unsigned long long;
};

/// A tile of one of the matrices.
struct Tile {
  int batch;
  int first_row;
  int first_column;
};

/// A position among the tiles of a matrix.
template <class Index>
QUARRY_DEVICE Tile tile_at(const ReorderParams& params, int extent, Index index) {
  const auto across = static_cast<Index>(tiles_along(params.columns, extent));
  const auto down = static_cast<Index>(tiles_along(params.rows, extent));
  const Index row = index / across;
  return {static_cast<int>(row / down), static_cast<int>(row % down) * extent,
          static_cast<int>(index % across) * extent};
}

/// The same. @param extent of a tile @param index mostly short, and divided as such: that is several times
/// faster
QUARRY_DEVICE Tile tile_at(const ReorderParams& params, int extent, long long index) {
  if (index == static_cast<unsigned>(index))
    return tile_at<unsigned>(params, extent, static_cast<unsigned>(index));
  return tile_at<unsigned long long>(params, extent, static_cast<unsigned long long>(index));
}

/// What is moved at once, if lines allow it.
using Piece = arch::Vector<unsigned, 4>;
static_assert(sizeof(Piece) == piece_bytes);

/// Whether so many bytes of neighbouring elements, from a multiple of them on, can be moved at once.
template <class T>
QUARRY_DEVICE bool moves(const ReorderSide& side, int bytes) {
  const long long strides =
      side.line_stride | side.batch_stride | (side.interleaved ? side.element_stride : 0);
  const auto places =
      reinterpret_cast<unsigned long long>(side.data) | static_cast<unsigned long long>(strides) * sizeof(T);
  return (side.interleaved || side.element_stride == 1) && places % static_cast<unsigned>(bytes) == 0;
}

/// The first element of a line.
template <class T>
QUARRY_DEVICE T* line_at(const ReorderSide& side, int batch, int line) {
  return static_cast<T*>(const_cast<void*>(side.data)) +
         (batch * side.batch_stride + line * side.line_stride);
}

/// Moves the first `count` elements of a piece, a few at a time: a load by itself would keep the next ones
/// waiting. @param step from one element to the next @param store of one element by its number
template <class T, class Store>
QUARRY_DEVICE void move_elements(const T* from, long long step, int count, const Store& store) {
  constexpr int at_once = 4;
  QUARRY_ROLLED
  for (int first = 0; first < count; first += at_once) {
    T elements[at_once] = {};
    QUARRY_UNROLL
    for (int i = 0; i < at_once; ++i) {
      if (first + i < count) elements[i] = arch::global_load<T>(from + (first + i) * step);
    }
    QUARRY_UNROLL
    for (int i = 0; i < at_once; ++i) {
      if (first + i < count) store(first + i, elements[i]);
    }
  }
}

/// The lines of one side whose pieces begin at multiples of a piece.
template <class T>
class PieceLines {
 public:
  static constexpr int pieces_at_once = pieces_of_thread;

  /// @pre the side moves pieces
  QUARRY_DEVICE PieceLines(const ReorderSide& side, const ReorderParams& /*params*/)
      : side_(side), group_stride_(side.interleaved ? side.element_stride : interleave) {}

  QUARRY_DEVICE T* at(int batch, int line, int element) const {
    return line_at<T>(side_, batch, line) + distance<true>(element, group_stride_);
  }
  QUARRY_DEVICE long long line_stride() const { return side_.line_stride; }
  /// From one element of a piece to the next.
  QUARRY_DEVICE static long long step() { return 1; }

  QUARRY_DEVICE static bool moves_pieces() { return true; }
  QUARRY_DEVICE static Piece load(const T* from) { return arch::global_load<Piece>(from); }
  QUARRY_DEVICE static void store(T* to, const Piece& piece) { arch::global_store(to, piece); }

 private:
  const ReorderSide& side_;
  long long group_stride_;  ///< from 32 elements of a line to the next 32
};

/// A piece as so many words.
template <class Word>
struct PieceWords {
  static constexpr int count = piece_bytes / static_cast<int>(sizeof(Word));
  Word words[count];
};

/// The end of matrices whose elements are neighbours in their lines.
template <class T>
QUARRY_DEVICE unsigned long long end_of(const ReorderSide& side, const ReorderParams& params) {
  const int lines = side.lines_are_rows ? params.rows : params.columns;
  const int length = side.lines_are_rows ? params.columns : params.rows;
  return reinterpret_cast<unsigned long long>(line_at<T>(side, params.batch - 1, lines - 1) + length);
}

/// The lines of one side in any memory. A piece is moved in the longest words that its place allows. Of
/// neighbours that begin between words, the words around them are read, as far as all of these lie in the
/// matrices: five in place of eight or sixteen elements.
template <class T>
class AnyLines {
 public:
  /// A piece that is read word by word is enough of loads on their way.
  static constexpr int pieces_at_once = 1;

  QUARRY_DEVICE AnyLines(const ReorderSide& side, const ReorderParams& params)
      : side_(side),
        word_bytes_(moves<T>(side, piece_bytes) ? piece_bytes
                    : moves<T>(side, 4)         ? 4
                                                : static_cast<int>(sizeof(T))),
        step_(side.interleaved ? 1 : side.element_stride),
        end_(side.interleaved || side.element_stride != 1 ? 0 : end_of<T>(side, params)) {}

  QUARRY_DEVICE T* at(int batch, int line, int element) const {
    return line_at<T>(side_, batch, line) + distance(side_.interleaved, element, side_.element_stride);
  }
  QUARRY_DEVICE long long line_stride() const { return side_.line_stride; }
  QUARRY_DEVICE long long step() const { return step_; }

  QUARRY_DEVICE bool moves_pieces() const { return word_bytes_ == piece_bytes; }
  QUARRY_DEVICE Piece load(const T* from) const {
    if (word_bytes_ == piece_bytes) return arch::global_load<Piece>(from);
    if constexpr (sizeof(T) < 4) {
      if (word_bytes_ == 4) return load_words(reinterpret_cast<const unsigned*>(from), 1);
      const auto place = reinterpret_cast<unsigned long long>(from);
      const unsigned long long first = place / 4 * 4;
      if (first >= reinterpret_cast<unsigned long long>(side_.data) && first + piece_bytes + 4 <= end_)
        return load_between(from - (place - first) / sizeof(T), static_cast<unsigned>(place - first));
    }
    return load_words(from, step_);
  }
  QUARRY_DEVICE void store(T* to, const Piece& piece) const {
    if (word_bytes_ == piece_bytes) {
      arch::global_store(to, piece);
      return;
    }
    if constexpr (sizeof(T) < 4) {
      if (word_bytes_ == 4) {
        store_words(reinterpret_cast<unsigned*>(to), 1, piece);
        return;
      }
    }
    store_words(to, step_, piece);
  }

 private:
  /// The 16 bytes that begin `bytes` behind the first word.
  QUARRY_DEVICE static Piece load_between(const T* first, unsigned bytes) {
    const auto* const from = reinterpret_cast<const unsigned*>(first);
    Piece piece;
    unsigned word = arch::global_load<unsigned>(from);
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      const unsigned next = arch::global_load<unsigned>(from + i + 1);
      const unsigned long long both = static_cast<unsigned long long>(next) << 32 | word;
      piece.v[i] = static_cast<unsigned>(both >> 8 * bytes);
      word = next;
    }
    return piece;
  }

  template <class Word>
  QUARRY_DEVICE static Piece load_words(const Word* from, long long step) {
    PieceWords<Word> piece;
    QUARRY_UNROLL
    for (int i = 0; i < PieceWords<Word>::count; ++i)
      piece.words[i] = arch::global_load<Word>(from + i * step);
    return __builtin_bit_cast(Piece, piece);
  }

  template <class Word>
  QUARRY_DEVICE static void store_words(Word* to, long long step, const Piece& piece) {
    const auto words = __builtin_bit_cast(PieceWords<Word>, piece);
    QUARRY_UNROLL
    for (int i = 0; i < PieceWords<Word>::count; ++i) arch::global_store(to + i * step, words.words[i]);
  }

  const ReorderSide& side_;
  int word_bytes_;
  long long step_;          ///< from one element of a piece to the next
  unsigned long long end_;  ///< of matrices whose elements are neighbours in their lines; else 0
};

}  // namespace quarry::reorder_matrix
