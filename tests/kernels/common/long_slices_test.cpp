// How slices of two lengths share K among blocks.
#include "common/long_slices.hpp"

#include <algorithm>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using test::Random;

namespace {

SliceCut random_cut(Random& random) {
  const auto tiles = static_cast<unsigned>(test::between(random, 1, 200));
  return cut_in_two_lengths(tiles, test::between(random, 1, 600),
                            static_cast<unsigned>(test::between(random, 1, 140)),
                            test::between(random, 2, 12));
}

/// K tiles of each block, and how often each slice of a tile is computed.
struct Counted {
  std::vector<int> k_tiles_of_block;
  std::vector<int> times;
};

/// As LongSliceList walks.
Counted counted(const SliceCut& k) {
  Counted counted{std::vector<int>(k.blocks), std::vector<int>(k.works())};
  for (unsigned block = 0; block < k.blocks; ++block) {
    const bool is_long = block >= k.short_blocks();
    const unsigned end = is_long ? k.long_works() : k.works();
    const unsigned step = is_long ? k.long_blocks() : k.short_blocks();
    for (unsigned work = is_long ? block - k.short_blocks() : k.long_works() + block; work < end;
         work += step) {
      const auto slice = static_cast<int>(work / k.tiles);
      ++counted.times[work];
      counted.k_tiles_of_block[block] += k.first_k_tile(slice + 1) - k.first_k_tile(slice);
    }
  }
  return counted;
}

}  // namespace

TEST_CASE("slices of two lengths: each slice of each tile is computed once, and they cover K",
          "[long_slices]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  int paying = 0;
  for (int i = 0; i < 5000; ++i) {
    const SliceCut k = random_cut(random);
    CAPTURE(k.tiles, k.k_tiles, k.blocks, k.slices, k.longs.slices);
    REQUIRE(k.first_k_tile(0) == 0);
    REQUIRE(k.first_k_tile(k.slices) == k.k_tiles);
    bool ascends = true;
    for (int slice = 0; slice < k.slices; ++slice)
      ascends = ascends && k.first_k_tile(slice) <= k.first_k_tile(slice + 1);
    REQUIRE(ascends);
    if (!long_slices_pay(k)) continue;
    ++paying;
    const Counted all = counted(k);
    REQUIRE(std::ranges::all_of(all.times, [](int times) { return times == 1; }));
    // Nobody has more than is promised, and that is less than with slices of one length.
    const int most = std::ranges::max(all.k_tiles_of_block);
    REQUIRE(most <= busiest_block(k).k_tiles);
  }
  REQUIRE(paying > 100);
}

TEST_CASE("slices of two lengths come out even where they can", "[long_slices]") {
  // 72 tiles of 512 K tiles on 132 blocks: 108 blocks have two slices of 140, 24 have three of 94.
  const SliceCut k = cut_in_two_lengths(72, 512, 132, 4);
  CHECK(k.longs.slices == 3);
  CHECK(k.longs.k_tiles == 140);
  CHECK(k.short_k_tiles == 94);
  CHECK(k.longs.blocks == 108);
  CHECK(long_slices_pay(k));
  CHECK(busiest_block(k).k_tiles == 282);  // 280 is an even share; slices of one length have 384
  // Slices that come out even by themselves stay as they are.
  CHECK(!long_slices_pay(cut_in_two_lengths(72, 512, 132, 11)));
  CHECK(!long_slices_pay(cut_in_two_lengths(66, 512, 132, 2)));
  CHECK(!long_slices_pay(cut_in_two_lengths(10, 512, 132, 8)));  // all run at once
}
