// How stream-K shares K tiles among blocks.
#include "common/stream_k.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"
#include "support/stream_parts.hpp"

using namespace quarry;
using test::OwnPart;
using test::parts_by_tile;
using test::Random;

namespace {

StreamShares random_shares(Random& random) {
  const auto tiles = static_cast<unsigned>(test::between(random, 1, 40));
  const int k_tiles = test::between(random, 1, test::coin(random) ? 4 : 40);
  // As many blocks as tiles, or fewer, or up to one for each K tile.
  const int most = test::coin(random) ? static_cast<int>(tiles) : static_cast<int>(tiles) * k_tiles;
  const auto blocks = static_cast<unsigned>(test::between(random, 1, most));
  const Mode mode = random() % 8 == 0 ? Mode::gemm : Mode::stream_k;
  return stream_shares(mode, tiles, k_tiles, mode == Mode::gemm ? std::min(blocks, tiles) : blocks);
}

}  // namespace

TEST_CASE("shares: each K tile of each tile belongs to one part, and parts follow one another", "[stream]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 10000; ++i) {
    const StreamShares shares = random_shares(random);
    CAPTURE(shares.tiles, shares.k_tiles, shares.blocks, shares.whole);
    const auto tiles = parts_by_tile(shares);
    bool good = tiles.size() == shares.tiles;
    for (const auto& [tile, parts] : tiles) {
      int next = 0;
      int earlier = 0;
      for (const auto& [block, number, part] : parts) {
        good = good && tile < shares.tiles && part.first_k_tile == next && part.k_tiles > 0;
        good = good && part.earlier == earlier && part.first_block == parts.front().block;
        // Successive blocks have them, so that the number of a block says how many there were.
        good = good && block == part.first_block + static_cast<unsigned>(earlier);
        next += part.k_tiles;
        ++earlier;
        good = good && part.is_last == (next == shares.k_tiles);
      }
      good = good && next == shares.k_tiles;
      if (tile < shares.whole) good = good && parts.size() == 1;
    }
    REQUIRE(good);
  }
}

TEST_CASE("shares: what others wait for comes first of a block's range", "[stream]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    const StreamShares shares = random_shares(random);
    CAPTURE(shares.tiles, shares.k_tiles, shares.blocks, shares.whole);
    std::set<unsigned> slots;  // of partial tiles
    for (const auto& [tile, parts] : parts_by_tile(shares)) {
      if (parts.size() > 1) {
        REQUIRE(slots.insert(parts.front().block).second);
        REQUIRE(parts.front().block + 1 < shares.blocks);
      }
      for (const auto& [block, number, part] : parts) {
        if (part.is_last) continue;
        const unsigned rounds = shares.whole / shares.blocks;
        REQUIRE(static_cast<unsigned>(number) == rounds);  // whole tiles wait for nobody
      }
    }
  }
}

TEST_CASE("shares: no block has more to do than another, but for a K tile", "[stream]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    const StreamShares shares = random_shares(random);
    if (shares.whole == shares.tiles) continue;
    CAPTURE(shares.tiles, shares.k_tiles, shares.blocks, shares.whole);
    std::map<unsigned, int> work;
    for (const auto& [tile, parts] : parts_by_tile(shares)) {
      for (const OwnPart& own : parts) work[own.block] += own.part.k_tiles;
    }
    const auto [least, most] =
        std::ranges::minmax_element(work, {}, [](const auto& each) { return each.second; });
    REQUIRE(most->second - least->second <= 1);
    REQUIRE(work.size() == shares.blocks);
    // None is cut more often than it must be: a tile's worth or more each, where there are so many.
    if (shares.tiles >= shares.blocks) REQUIRE(shares.share >= shares.k_tiles);
    REQUIRE(shares.share < 2LL * shares.k_tiles);
  }
}

TEST_CASE("shares of the greatest numbers do not overflow", "[stream]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    const auto tiles = static_cast<unsigned>(0x7fffffff - test::between(random, 0, 1000));
    const auto blocks = static_cast<unsigned>(test::between(random, 1, 1 << 17));
    const int k_tiles = 0x7fffffff / 16 - test::between(random, 0, 1000);
    const StreamShares shares = stream_shares(Mode::stream_k, tiles, k_tiles, blocks);
    CAPTURE(tiles, blocks, k_tiles);
    REQUIRE(shares.begin(0) == 0);
    REQUIRE(shares.begin(blocks) == static_cast<long long>(tiles - shares.whole) * k_tiles);
    if (shares.whole == tiles) continue;
    const auto block = static_cast<unsigned>(random() % blocks);
    REQUIRE(shares.block_of(shares.begin(block)) == block);
    REQUIRE(shares.block_of(shares.begin(block + 1) - 1) == block);
    StreamWalk walk(shares, block);
    REQUIRE(walk.has_more());
  }
}
