/// The parts into which stream-K cuts tiles, tile by tile.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "common/stream_k.hpp"

namespace quarry::test {

struct OwnPart {
  unsigned block;
  int number;  ///< among the parts of its block
  StreamPart part;
};

/// The parts of each tile, in the order of K.
inline std::map<unsigned, std::vector<OwnPart>> parts_by_tile(const StreamShares& shares) {
  std::map<unsigned, std::vector<OwnPart>> tiles;
  for (unsigned block = 0; block < shares.blocks; ++block) {
    int number = 0;
    for (StreamWalk walk(shares, block); walk.has_more(); walk.advance()) {
      tiles[walk.current().tile].push_back({block, number++, walk.current()});
    }
  }
  for (auto& [tile, parts] : tiles) {
    std::ranges::sort(parts, {}, [](const OwnPart& p) { return p.part.first_k_tile; });
  }
  return tiles;
}

}  // namespace quarry::test
