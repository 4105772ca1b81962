/// Barriers in shared memory; see arch/ptx/mbarrier.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "arch/types_sm90.hpp"
#include "emulator/device_sm90.hpp"

namespace quarry::arch {

QUARRY_DEVICE void mbarrier_init(SharedAddress barrier, int arrivals,
                                 const emulator::Site& site = emulator::Site::current()) {
  emulator::mbarrier_init(barrier.value, arrivals, site);
}
QUARRY_DEVICE void mbarrier_init_fence(const emulator::Site& site = emulator::Site::current()) {
  emulator::mbarrier_init_fence(site);
}
QUARRY_DEVICE void mbarrier_arrive(SharedAddress barrier,
                                   const emulator::Site& site = emulator::Site::current()) {
  emulator::mbarrier_arrive(barrier.value, site);
}
QUARRY_DEVICE void mbarrier_arrive_expect(SharedAddress barrier, int bytes,
                                          const emulator::Site& site = emulator::Site::current()) {
  emulator::mbarrier_arrive_expect(barrier.value, bytes, site);
}
QUARRY_DEVICE void mbarrier_arrive_copied(SharedAddress barrier,
                                          const emulator::Site& site = emulator::Site::current()) {
  emulator::mbarrier_arrive_copied(barrier.value, site);
}
QUARRY_DEVICE void mbarrier_arrive_at(SharedAddress barrier, int rank,
                                      const emulator::Site& site = emulator::Site::current()) {
  emulator::mbarrier_arrive_at(barrier.value, rank, site);
}
QUARRY_DEVICE void mbarrier_wait(SharedAddress barrier, int parity,
                                 const emulator::Site& site = emulator::Site::current()) {
  emulator::mbarrier_wait(barrier.value, parity, site);
}

}  // namespace quarry::arch
