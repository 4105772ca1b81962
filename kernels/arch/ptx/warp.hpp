/// What the lanes of a warp tell each other. All lanes call these together.
#pragma once

#include "arch/ptx/entry.hpp"

namespace quarry::arch {

/// The value that lane `lane % 32` calls it with.
QUARRY_DEVICE int shuffle(int value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }

/// The first lane that calls it with true; -1 where none does.
QUARRY_DEVICE int first_lane(bool value) {
  return __ffs(static_cast<int>(__ballot_sync(0xffffffffu, value))) - 1;
}

}  // namespace quarry::arch
