/// How threads wait for each other; see arch/ptx/barrier.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "emulator/device.hpp"

namespace quarry::arch {

QUARRY_DEVICE void block_barrier(const emulator::Site& site = emulator::Site::current()) {
  emulator::block_barrier(site);
}
QUARRY_DEVICE void named_barrier(int id, int threads,
                                 const emulator::Site& site = emulator::Site::current()) {
  emulator::named_barrier(id, threads, true, site);
}
QUARRY_DEVICE void named_barrier_arrive(int id, int threads,
                                        const emulator::Site& site = emulator::Site::current()) {
  emulator::named_barrier(id, threads, false, site);
}
QUARRY_DEVICE void warp_barrier(const emulator::Site& site = emulator::Site::current()) {
  emulator::warp_barrier(site);
}
QUARRY_DEVICE int load_acquire(const int* from, const emulator::Site& site = emulator::Site::current()) {
  return emulator::load_acquire(from, site);
}
QUARRY_DEVICE void store_release(int* to, int value, const emulator::Site& site = emulator::Site::current()) {
  emulator::store_release(to, value, site);
}
QUARRY_DEVICE int fetch_add(int* to, int value, const emulator::Site& site = emulator::Site::current()) {
  return emulator::fetch_add(to, value, site);
}

}  // namespace quarry::arch
