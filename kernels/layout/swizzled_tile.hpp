/// How a tile lies in shared memory so that no two lanes of an access meet in a bank.
#pragma once

#include "layout/swizzle.hpp"

namespace quarry {

/// A tile of lines of chunks, line after line without padding, the chunks of each line permuted.
///
/// Shared memory serves 128 bytes a cycle: of chunks of 16 bytes, eight with different places modulo eight.
/// Copies write neighbouring chunks of a line; matrix loads read the same chunk of eight successive lines,
/// which without a permutation would fall on as few as one place. XOR with a key that changes from line to
/// line spreads them. Loads of single elements, of which lanes read 32 neighbouring bytes of each of four
/// lines, are served the same way with chunks of 32 bytes. The key may only use as many bits as divide the
/// line evenly, and shorter lines share their places with neighbours, so it changes more slowly there.
struct SwizzledTile {
  int chunks_per_line;
  int chunk_bytes = 16;

  /// Chunks that are served in a cycle.
  constexpr int at_once() const { return 128 / chunk_bytes; }

  /// Chunks that are permuted among each other: the largest power of two of those served in a cycle that
  /// divides a line.
  constexpr int period() const {
    const int lowest_bit = chunks_per_line & -chunks_per_line;
    return lowest_bit < at_once() ? lowest_bit : at_once();
  }

  /// Where chunks of so many lines lie, in chunks, before they are permuted: (chunk of a period, line, period
  /// of a line).
  constexpr layout::Layout places(int lines) const {
    using namespace layout;
    return nested(leaf(period(), 1), leaf(lines, chunks_per_line),
                  leaf(chunks_per_line / period(), period()));
  }

  /// The permutation, of the indices of `places`: a cycle's chunks on, the key changes. Only the lines of one
  /// period of all lines meet it, so the chunk at index i lies at places(swizzle(i)); where lines have no
  /// more chunks than that, or a power of two of them, that is a swizzle of the place, too.
  constexpr layout::Swizzle swizzle() const {
    const auto log2 = [](int power) { return power == 8 ? 3 : power == 4 ? 2 : power == 2 ? 1 : 0; };
    return {log2(period()), 0, log2(at_once())};
  }

  /// What chunk indices of a line are XORed with. Of `line`, only the lowest three bits count.
  constexpr int key(int line) const {
    return line / ((1 << swizzle().shift) / period()) & ((1 << swizzle().bits) - 1);
  }

  /// Bytes from the start of the tile to a chunk.
  constexpr int offset(int line, int chunk) const {
    return (line * chunks_per_line + (chunk ^ key(line))) * chunk_bytes;
  }

  friend constexpr bool operator==(const SwizzledTile&, const SwizzledTile&) = default;
};

}  // namespace quarry
