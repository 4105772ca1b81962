/// How stream-K shares work among blocks. Constexpr and for both sides: by this a kernel finds its parts, and
/// the host executor the order in which their sums are added.
#pragma once

#include "quarry/types.hpp"

namespace quarry {

/// The parts of a launch. Output tiles are numbered in the order in which they are walked, one batch entry
/// after another.
///
/// The first `whole` tiles are computed whole, in rounds of one a block. The K tiles of the others, one
/// output tile's after another's, are cut into a range for each block, in order; one to two output tiles'
/// worth, or less where there are fewer tiles than blocks. So the parts of an output tile belong to
/// successive blocks, and every block has as much to do as any other, to within one K tile.
struct StreamShares {
  unsigned tiles;
  unsigned whole;
  unsigned blocks;
  /// Of an output tile.
  int k_tiles;
  /// K tiles of a block's range; the first `longer` blocks have one more.
  long long share;
  unsigned longer;

  /// Where a block's range begins, in K tiles of the tiles that are not whole; it ends where the next one's
  /// begins.
  constexpr long long begin(unsigned block) const {
    return block * share + (block < longer ? block : longer);
  }

  /// Block whose range holds this K tile. @pre there is one
  constexpr unsigned block_of(long long k_tile) const {
    const long long in_longer = longer * (share + 1);
    if (k_tile < in_longer) return static_cast<unsigned>(k_tile / (share + 1));
    return longer + static_cast<unsigned>((k_tile - in_longer) / share);
  }
};

/// Tiles that nobody shares: all of them where they come out even, where there is nothing to cut, or where
/// the mode is to leave them whole.
constexpr unsigned whole_tiles(Mode mode, unsigned tiles, int k_tiles, unsigned blocks) {
  if (mode != Mode::stream_k || k_tiles < 2) return tiles;
  const unsigned rounds = tiles / blocks;
  if (rounds * blocks == tiles) return tiles;
  return rounds < 2 ? 0 : (rounds - 1) * blocks;
}

/// @pre blocks > 0
constexpr StreamShares stream_shares(Mode mode, unsigned tiles, int k_tiles, unsigned blocks) {
  const unsigned whole = whole_tiles(mode, tiles, k_tiles, blocks);
  const long long shared = static_cast<long long>(tiles - whole) * k_tiles;
  const long long share = shared / blocks;
  return {tiles, whole, blocks, k_tiles, share, static_cast<unsigned>(shared - share * blocks)};
}

/// A part of an output tile: so many of its K tiles.
struct StreamPart {
  unsigned tile;
  int first_k_tile;
  int k_tiles;
  /// Parts of the same tile before this one, and the block that has the first of them.
  int earlier;
  unsigned first_block;
  /// No part comes after it.
  bool is_last;
};

/// The parts of one block, one after another. Of its range it goes from the end to the start: what others
/// wait for, the beginning of a tile that they go on with, is done before it waits for others itself, with
/// the end of a tile.
class StreamWalk {
 public:
  constexpr StreamWalk(const StreamShares& shares, unsigned block)
      : shares_(shares),
        block_(block),
        next_whole_(block),
        begin_(shares.begin(block)),
        end_(shares.begin(block + 1)),
        tile_(begin_ < end_ ? static_cast<unsigned>((end_ - 1) / shares.k_tiles) : 0) {}

  constexpr bool has_more() const { return next_whole_ < shares_.whole || begin_ < end_; }

  /// @pre has_more()
  constexpr StreamPart current() const {
    if (next_whole_ < shares_.whole) return {next_whole_, 0, shares_.k_tiles, 0, block_, true};
    const long long start = tile_start();
    const long long first = start < begin_ ? begin_ : start;
    unsigned first_block = block_;
    while (shares_.begin(first_block) > start) --first_block;
    return {shares_.whole + tile_,
            static_cast<int>(first - start),
            static_cast<int>(end_ - first),
            static_cast<int>(block_ - first_block),
            first_block,
            end_ - start == shares_.k_tiles};
  }

  constexpr void advance() {
    if (next_whole_ < shares_.whole) {
      next_whole_ += shares_.blocks;
      return;
    }
    const long long start = tile_start();
    end_ = start < begin_ ? begin_ : start;
    --tile_;
  }

 private:
  constexpr long long tile_start() const { return static_cast<long long>(tile_) * shares_.k_tiles; }

  StreamShares shares_;
  unsigned block_;
  unsigned next_whole_;
  /// What is left of the block's range, and the last tile of it, counted behind the whole ones.
  long long begin_;
  long long end_;
  unsigned tile_;
};

}  // namespace quarry
