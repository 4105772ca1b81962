/// What the lanes of a warp tell each other; see arch/ptx/warp.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "emulator/device.hpp"

namespace quarry::arch {

QUARRY_DEVICE int shuffle(int value, int lane, const emulator::Site& site = emulator::Site::current()) {
  return emulator::shuffle(value, lane, site);
}
QUARRY_DEVICE int first_lane(bool value, const emulator::Site& site = emulator::Site::current()) {
  return emulator::first_lane(value, site);
}

}  // namespace quarry::arch
