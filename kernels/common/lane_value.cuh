/// Values of the other lanes of a warp.
#pragma once

#include "arch/arch.hpp"

namespace quarry {

/// The value that a lane of the warp has. All lanes call it.
template <class C>
QUARRY_DEVICE C of_lane(C value, int lane) {
  if constexpr (sizeof(C) == 8) {
    const auto bits = __builtin_bit_cast(unsigned long long, value);
    const auto low = static_cast<unsigned>(arch::shuffle(static_cast<int>(bits & 0xffffffffU), lane));
    const auto high = static_cast<unsigned>(arch::shuffle(static_cast<int>(bits >> 32), lane));
    return __builtin_bit_cast(C, static_cast<unsigned long long>(high) << 32 | low);
  } else {
    return __builtin_bit_cast(C, arch::shuffle(__builtin_bit_cast(int, value), lane));
  }
}

}  // namespace quarry
