/// What the lanes of a warp tell each other. All 32 lanes must call a function together.
#pragma once

#include "arch/ptx/entry.hpp"

namespace quarry::arch {

/// The value that lane `lane` % 32 gives.
QUARRY_DEVICE unsigned shuffle(unsigned value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }

/// The value that the lane gives whose index differs in the bits of `mask` (0 to 31).
QUARRY_DEVICE unsigned shuffle_xor(unsigned value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}

/// A bit for each lane, set where its `vote` is true.
QUARRY_DEVICE unsigned ballot(bool vote) { return __ballot_sync(0xffffffffu, vote); }

/// Whether `vote` is true in any lane; in all.
QUARRY_DEVICE bool any_lane(bool vote) { return __any_sync(0xffffffffu, vote) != 0; }
QUARRY_DEVICE bool all_lanes(bool vote) { return __all_sync(0xffffffffu, vote) != 0; }

}  // namespace quarry::arch
