/// Who a thread is; see arch/ptx/index.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "emulator/device.hpp"

namespace quarry::arch {

QUARRY_DEVICE unsigned block_index() { return emulator::block_index(); }
QUARRY_DEVICE unsigned grid_blocks() { return emulator::grid_blocks(); }
QUARRY_DEVICE int thread_index() { return emulator::thread_index(); }
QUARRY_DEVICE int warp_index(const emulator::Site& site = emulator::Site::current()) {
  return emulator::warp_index(site);
}
QUARRY_DEVICE int lane_index() { return emulator::thread_index() % 32; }

}  // namespace quarry::arch
