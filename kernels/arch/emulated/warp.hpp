/// What the lanes of a warp tell each other; see arch/ptx/warp.hpp.
#pragma once

#include "arch/emulated/index.hpp"

namespace quarry::arch {

QUARRY_DEVICE unsigned shuffle(unsigned value, int lane,
                               const emulator::Site& site = emulator::Site::current()) {
  return emulator::shuffle(value, lane, site);
}
QUARRY_DEVICE unsigned shuffle_xor(unsigned value, int mask,
                                   const emulator::Site& site = emulator::Site::current()) {
  return emulator::shuffle(value, lane_index() ^ mask, site);
}
QUARRY_DEVICE unsigned ballot(bool vote, const emulator::Site& site = emulator::Site::current()) {
  return emulator::ballot(vote, site);
}
QUARRY_DEVICE bool any_lane(bool vote, const emulator::Site& site = emulator::Site::current()) {
  return emulator::ballot(vote, site) != 0;
}
QUARRY_DEVICE bool all_lanes(bool vote, const emulator::Site& site = emulator::Site::current()) {
  return emulator::ballot(!vote, site) == 0;
}

}  // namespace quarry::arch
