/// What a thread turns in registers: a piece of each of a few lines, from which words are made that hold an
/// element of each.
#pragma once

#include "arch/arch.hpp"
#include "reorder_matrix/lines.cuh"

namespace quarry::reorder_matrix {

/// Pieces at the same place of neighbouring lines.
template <class T>
struct Patch {
  static constexpr int lines = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
  static constexpr int elements = piece_bytes / sizeof(T);  ///< of a piece
  Piece pieces[lines];
};

/// A word for each element of the pieces: the elements of all lines, the first line's one in the lowest bits.
template <class T>
struct TurnedPatch {
  using Word = typename ElementOf<sizeof(T) * Patch<T>::lines>::Type;
  Word words[Patch<T>::elements];
};

/// The elements of two words by turns: those at even places, and those at odd places.
struct Alternating {
  unsigned even;
  unsigned odd;
};

QUARRY_DEVICE Alternating alternate_bytes(unsigned a, unsigned b) {
  constexpr unsigned mask = 0x00ff00ff;
  return {(a & mask) | (b & mask) << 8, (a >> 8 & mask) | (b & ~mask)};
}

QUARRY_DEVICE Alternating alternate_halves(unsigned a, unsigned b) {
  return {(a & 0xffff) | b << 16, a >> 16 | (b & 0xffff0000)};
}

QUARRY_DEVICE TurnedPatch<unsigned char> turn(const Patch<unsigned char>& patch) {
  TurnedPatch<unsigned char> turned;
  QUARRY_UNROLL
  for (int i = 0; i < 4; ++i) {
    const Alternating first = alternate_bytes(patch.pieces[0].v[i], patch.pieces[1].v[i]);
    const Alternating second = alternate_bytes(patch.pieces[2].v[i], patch.pieces[3].v[i]);
    const Alternating even = alternate_halves(first.even, second.even);
    const Alternating odd = alternate_halves(first.odd, second.odd);
    turned.words[4 * i] = even.even;
    turned.words[4 * i + 1] = odd.even;
    turned.words[4 * i + 2] = even.odd;
    turned.words[4 * i + 3] = odd.odd;
  }
  return turned;
}

QUARRY_DEVICE TurnedPatch<unsigned short> turn(const Patch<unsigned short>& patch) {
  TurnedPatch<unsigned short> turned;
  QUARRY_UNROLL
  for (int i = 0; i < 4; ++i) {
    const Alternating halves = alternate_halves(patch.pieces[0].v[i], patch.pieces[1].v[i]);
    turned.words[2 * i] = halves.even;
    turned.words[2 * i + 1] = halves.odd;
  }
  return turned;
}

/// A single line is turned as it is.
template <class T>
QUARRY_DEVICE TurnedPatch<T> turn(const Patch<T>& patch) {
  static_assert(Patch<T>::lines == 1);
  return __builtin_bit_cast(TurnedPatch<T>, patch);
}

}  // namespace quarry::reorder_matrix
