/// How a tile lies in shared memory so that no two lanes of an access meet in a bank.
#pragma once

#include "layout/swizzle.hpp"

namespace quarry {

/// A tile of lines of 16-byte chunks, line after line without padding, the chunks of each line permuted.
///
/// Shared memory serves 128 bytes a cycle, eight chunks with different places modulo eight. Copies write
/// eight neighbouring chunks of a line; matrix loads read the same chunk of eight successive lines, which
/// without a permutation would fall on as few as one place. XOR with a key that changes from line to line
/// spreads them. The key may only use as many bits as divide the line evenly, and lines shorter than eight
/// chunks share their places with neighbours, so it changes more slowly there.
struct SwizzledTile {
  int chunks_per_line;

  /// Chunks that are permuted among each other: the largest power of two up to 8 that divides a line.
  constexpr int period() const {
    const int lowest_bit = chunks_per_line & -chunks_per_line;
    return lowest_bit < 8 ? lowest_bit : 8;
  }

  /// Where chunks of so many lines lie, in chunks, before they are permuted: (chunk of a period, line, period
  /// of a line).
  constexpr layout::Layout places(int lines) const {
    using namespace layout;
    return nested(leaf(period(), 1), leaf(lines, chunks_per_line),
                  leaf(chunks_per_line / period(), period()));
  }

  /// The permutation, of the indices of `places`: eight chunks on, the key changes. Only the lines of one
  /// period of all lines meet it, so the chunk at index i lies at places(swizzle(i)); where lines have up to
  /// eight chunks, or a power of two of them, that is a swizzle of the place, too.
  constexpr layout::Swizzle swizzle() const {
    return {period() == 8 ? 3 : period() == 4 ? 2 : period() == 2 ? 1 : 0, 0, 3};
  }

  /// What chunk indices of a line are XORed with. Of `line`, only the lowest three bits count.
  constexpr int key(int line) const {
    return line / ((1 << swizzle().shift) / period()) & ((1 << swizzle().bits) - 1);
  }

  /// Bytes from the start of the tile to a chunk.
  constexpr int offset(int line, int chunk) const {
    return (line * chunks_per_line + (chunk ^ key(line))) * 16;
  }

  friend constexpr bool operator==(const SwizzledTile&, const SwizzledTile&) = default;
};

}  // namespace quarry
