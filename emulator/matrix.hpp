/// What the warp's multiplications share.
#pragma once

#include <cstdint>
#include <span>

#include "emulator/site.hpp"

namespace quarry::emulator {

/// Hands in the operands of the current thread's lane, one after another; ends the block where a word of them
/// was never set.
void hand_in(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
             std::span<const std::uint32_t> sum, const Site& site);

}  // namespace quarry::emulator
