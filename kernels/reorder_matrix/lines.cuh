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

/// @param extent of a tile
QUARRY_DEVICE Tile tile_at(const ReorderParams& params, int extent, long long index) {
  const long long across = tiles_along(params.columns, extent);
  const long long down = tiles_along(params.rows, extent);
  const long long row = index / across;
  return {static_cast<int>(row / down), static_cast<int>(row % down) * extent,
          static_cast<int>(index % across) * extent};
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

/// The lines of one side whose pieces begin at multiples of a piece.
template <class T>
class PieceLines {
 public:
  static constexpr int pieces_at_once = pieces_of_thread;

  /// @pre the side moves pieces
  QUARRY_DEVICE explicit PieceLines(const ReorderSide& side)
      : side_(side), group_stride_(side.interleaved ? side.element_stride : interleave) {}

  QUARRY_DEVICE T* at(int batch, int line, int element) const {
    return line_at<T>(side_, batch, line) + distance<true>(element, group_stride_);
  }
  QUARRY_DEVICE long long line_stride() const { return side_.line_stride; }

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

/// The lines of one side in any memory. A piece is moved in the longest words that its place allows.
template <class T>
class AnyLines {
 public:
  /// A piece that is read word by word is enough of loads on their way.
  static constexpr int pieces_at_once = 1;

  QUARRY_DEVICE explicit AnyLines(const ReorderSide& side)
      : side_(side),
        word_bytes_(moves<T>(side, piece_bytes) ? piece_bytes
                    : moves<T>(side, 4)         ? 4
                                                : static_cast<int>(sizeof(T))),
        step_(side.interleaved ? 1 : side.element_stride) {}

  QUARRY_DEVICE T* at(int batch, int line, int element) const {
    return line_at<T>(side_, batch, line) + distance(side_.interleaved, element, side_.element_stride);
  }
  QUARRY_DEVICE long long line_stride() const { return side_.line_stride; }

  QUARRY_DEVICE bool moves_pieces() const { return word_bytes_ == piece_bytes; }
  QUARRY_DEVICE Piece load(const T* from) const {
    if (word_bytes_ == piece_bytes) return arch::global_load<Piece>(from);
    if constexpr (sizeof(T) < 4) {
      if (word_bytes_ == 4) return load_words(reinterpret_cast<const unsigned*>(from), 1);
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
  long long step_;  ///< from one element of a piece to the next
};

}  // namespace quarry::reorder_matrix
