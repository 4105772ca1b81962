/// How a warpgroup's matrix instruction finds an operand in shared memory (PTX ISA, asynchronous warpgroup
/// level matrix shared memory layout and matrix descriptor).
#pragma once

#include "layout/divide.hpp"
#include "layout/swizzle.hpp"

namespace quarry::layout {

/// A chunk is what the instruction reads at once.
inline constexpr int chunk_bytes = 16;

/// The fields of a matrix descriptor, without the start address.
struct MatrixFields {
  /// Greatest distance, in chunks.
  static constexpr int most_chunks = 0x3fff;

  int leading = 0;  ///< bytes
  int stride = 0;   ///< bytes
  int mode = 0;     ///< 0: no swizzle; 1, 2, 3: of 128, 64, 32 bytes
  Fault fault = Fault::none;

  /// The descriptor of a tile at address 0.
  constexpr unsigned long long bits() const {
    return static_cast<unsigned long long>(mode) << 62 |
           static_cast<unsigned long long>(stride / chunk_bytes) << 32 |
           static_cast<unsigned long long>(leading / chunk_bytes) << 16;
  }

  friend constexpr bool operator==(const MatrixFields&, const MatrixFields&) = default;
};

/// The permutation of 16-byte chunks in lines of so many bytes: 16 (none), 32, 64 or 128. Bits 4 to 6 of an
/// address are XORed with bits 7 to 9, as many as there are chunks to permute.
constexpr Swizzle chunk_swizzle(int line_bytes) {
  return {line_bytes == 128 ? 3 : line_bytes == 64 ? 2 : line_bytes == 32 ? 1 : 0, 4, 3};
}

/// The fields for a tile of lines, (byte of a line, line) -> byte, that lies permuted by `swizzle`. Lines run
/// along K
/// (`k_major`), or along M or N.
///
/// A core matrix is eight lines of as many bytes as the swizzle permutes, without gaps; a tile is core
/// matrices at even distances along its lines, and down from line to line. In chunks, with lines of L chunks,
/// the instruction takes tiles of these forms:
///
///     K along lines, swizzled:       ((8,n),(L,k)):((L,stride),(1,-))
///     K along lines:                 ((8,n),(1,k)):((1,stride),(-,leading))
///     M or N along lines, swizzled:  ((L,n),(8,k)):((1,leading),(L,stride))
///     M or N along lines:            ((1,n),(8,k)):((-,stride),(1,leading))
///
/// An instruction needs nothing of `-`; where there is one core matrix alone, a distance is its size. Where
/// the tile has none of these forms, there is a fault.
constexpr MatrixFields matrix_fields(const Layout& tile, const Swizzle& swizzle, bool k_major) {
  const int line_bytes = chunk_bytes << (swizzle.bits & 3);
  if (swizzle != chunk_swizzle(line_bytes)) return {.fault = Fault::indivisible};
  const Division cores = divided(tile, Tiler::of(line_bytes, 8));
  if (!cores.tile) return {.fault = cores.tile.fault};
  if (coalesce(cores.tile) != compact(8 * line_bytes)) return {.fault = Fault::indivisible};
  const Layout along = coalesce(mode(cores.rest, 0));
  const Layout down = coalesce(mode(cores.rest, 1));
  if (rank(along) > 1 || rank(down) > 1) return {.fault = Fault::indivisible};
  const int core_bytes = 8 * line_bytes;
  const int next_down = size(down) > 1 ? down.leaf[0].stride : core_bytes;
  const int next_along = size(along) > 1 ? along.leaf[0].stride : size(down) * core_bytes;
  const int distances[] = {next_down, next_along};
  for (const int distance : distances) {
    if (distance % chunk_bytes != 0) return {.fault = Fault::indivisible};
    if (distance / chunk_bytes > MatrixFields::most_chunks) return {.fault = Fault::too_large};
  }
  const bool exchanged = !k_major && swizzle.bits == 0;
  return {.leading = exchanged ? next_down : next_along,
          .stride = exchanged ? next_along : next_down,
          .mode = swizzle.bits == 0 ? 0 : 4 - swizzle.bits};
}

}  // namespace quarry::layout
