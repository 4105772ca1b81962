/// What a probe kernel is given and how many threads run it: known to both sides and to the host.
#pragma once

#include "arch/tensor_map.hpp"

namespace quarry::probes {

/// Threads of a block: what a probe is instantiated for.
struct Block {
  int threads;
};
constexpr int threads(Block block) { return block.threads; }

/// Four warps, which most probes run on.
inline constexpr Block usual = {128};

/// Operands in global memory, as words of the host. What `in` and `out` hold is each probe's own affair.
struct ProbeParams {
  const unsigned* in;
  unsigned* out;
  int* counters;  ///< 0 at the start
  int count;      ///< items of a probe that does the same to each
  int tensor_words;
  int box_words;
  TensorMap map;  ///< of a tensor in `in` or `out`, where the probe has one
};

/// Words of room for so many tensor maps, which begin at multiples of 128 bytes.
constexpr int map_words(int maps) { return maps * static_cast<int>(sizeof(TensorMap) / 4) + 32; }

}  // namespace quarry::probes
