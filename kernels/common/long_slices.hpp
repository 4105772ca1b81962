/// Slices of two lengths, for launches whose output tiles times slices do not come out even: blocks that have
/// a slice less than others have longer ones, so that all end at the same time. Constexpr and for both sides.
///
/// Blocks that run at the same time are at few places of K, as with slices of one length: what one brings to
/// L2 serves others. (Ranges of K tiles that ignore where tiles end, as stream-K has them, come out even
/// always, but have blocks everywhere in K.)
#pragma once

#include "quarry/types.hpp"

namespace quarry {

/// The slices of a tile that are longer than the others: its first ones, which the last blocks of the grid
/// compute. What lies behind the end of K does not exist.
struct LongSlices {
  int slices;
  int k_tiles;  ///< of each
  int blocks;

  /// @param short_k_tiles of the other slices @param all K tiles of a tile
  constexpr int first_k_tile(int slice, int short_k_tiles, int all) const {
    const int behind = slice - slices;
    const int first = behind < 0 ? slice * k_tiles : slices * k_tiles + behind * short_k_tiles;
    return first < all ? first : all;
  }
};

/// How the K of a launch's tiles is cut.
struct SliceCut {
  unsigned tiles;
  unsigned blocks;
  int k_tiles;
  int slices;
  LongSlices longs;
  int short_k_tiles;

  constexpr unsigned long_blocks() const { return static_cast<unsigned>(longs.blocks); }
  constexpr unsigned short_blocks() const { return blocks - long_blocks(); }
  constexpr unsigned long_works() const { return tiles * static_cast<unsigned>(longs.slices); }
  constexpr unsigned works() const { return tiles * static_cast<unsigned>(slices); }
  constexpr int first_k_tile(int slice) const { return longs.first_k_tile(slice, short_k_tiles, k_tiles); }
};

constexpr unsigned divided_up(unsigned number, unsigned by) { return number / by + (number % by != 0); }

/// Cuts the K tiles of each output tile into slices: of two lengths where blocks would be idle in the last
/// round, else of one. @pre tiles, blocks and k_tiles are not 0, slices >= 2, and tiles * slices fits an int
constexpr SliceCut cut_in_two_lengths(unsigned tiles, int k_tiles, unsigned blocks, int slices) {
  const auto number = [](int value) { return static_cast<unsigned>(value); };
  const auto all = number(k_tiles);
  SliceCut cut = {tiles, blocks, k_tiles, slices, {}, static_cast<int>(divided_up(all, number(slices)))};
  const unsigned rounds = divided_up(cut.works(), blocks);
  if (rounds < 2) return cut;
  // Blocks without a slice in the last round, and the slices that these hold.
  const unsigned idle = rounds * blocks - cut.works();
  unsigned longs = idle * (rounds - 1) / tiles;
  if (longs >= number(slices)) longs = number(slices) - 1;
  if (longs == 0) return cut;
  // So many short slices take as long as one round less of long ones.
  const unsigned shorts = number(slices) - longs;
  const unsigned parts = shorts * (rounds - 1) + longs * rounds;
  const auto length = static_cast<unsigned>((1ULL * all * (rounds - 1) + parts - 1) / parts);
  if (length * shorts >= all) return cut;
  cut.short_k_tiles = static_cast<int>(length);
  cut.longs = {static_cast<int>(longs), static_cast<int>(divided_up(all - length * shorts, longs)),
               static_cast<int>(divided_up(longs * tiles, rounds - 1))};
  return cut;
}

/// What the busiest block has.
struct BusiestBlock {
  int works;
  int k_tiles;
};
constexpr BusiestBlock busiest_block(const SliceCut& k) {
  const auto shorts = static_cast<int>(divided_up(k.works() - k.long_works(), k.short_blocks()));
  if (k.longs.slices == 0) return {shorts, shorts * k.short_k_tiles};
  const auto longs = static_cast<int>(divided_up(k.long_works(), k.long_blocks()));
  const int of_shorts = shorts * k.short_k_tiles;
  const int of_longs = longs * k.longs.k_tiles;
  return {shorts > longs ? shorts : longs, of_shorts > of_longs ? of_shorts : of_longs};
}

/// Whether slices of two lengths are better than slices of one.
constexpr bool long_slices_pay(const SliceCut& k) {
  if (k.longs.slices == 0) return false;
  const auto equal =
      static_cast<int>(divided_up(static_cast<unsigned>(k.k_tiles), static_cast<unsigned>(k.slices)));
  return busiest_block(k).k_tiles < static_cast<int>(divided_up(k.works(), k.blocks)) * equal;
}

}  // namespace quarry
