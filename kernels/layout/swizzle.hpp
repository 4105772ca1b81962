/// How a tile lies in shared memory so that no two lanes of an access meet in a bank.
#pragma once

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

  /// What chunk indices of a line are XORed with. Of `line`, only the lowest three bits count.
  constexpr int key(int line) const { return line / (8 / period()) & (period() - 1); }

  /// Bytes from the start of the tile to a chunk.
  constexpr int offset(int line, int chunk) const {
    return (line * chunks_per_line + (chunk ^ key(line))) * 16;
  }

  friend constexpr bool operator==(const SwizzledTile&, const SwizzledTile&) = default;
};

}  // namespace quarry
