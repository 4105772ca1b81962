/// Kernels of a stream that overlap; see arch/ptx/dependent.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "emulator/device_sm90.hpp"

namespace quarry::arch {

QUARRY_DEVICE void wait_for_earlier_kernels() { emulator::wait_for_earlier_kernels(); }

/// Launches run one after another here.
QUARRY_DEVICE void let_later_kernels_start() {}

}  // namespace quarry::arch
