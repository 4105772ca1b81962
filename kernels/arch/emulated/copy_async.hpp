/// Copies from global to shared memory that run beside the thread; see arch/ptx/copy_async.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "arch/types.hpp"
#include "emulator/device.hpp"

namespace quarry::arch {

template <int Bytes>
QUARRY_DEVICE void copy_async(SharedAddress to, const void* from, int valid_bytes,
                              const emulator::Site& site = emulator::Site::current()) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async moves 4, 8 or 16 bytes");
  emulator::copy_async(to.value, from, Bytes, valid_bytes, site);
}

template <int Bytes>
QUARRY_DEVICE void copy_async_or_zero(SharedAddress to, const void* from, unsigned present,
                                      const emulator::Site& site = emulator::Site::current()) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async moves 4, 8 or 16 bytes");
  emulator::copy_async(to.value, from, Bytes, present == 0 ? 0 : Bytes, site);
}

QUARRY_DEVICE void copy_async_commit() { emulator::copy_async_commit(); }

template <int Pending>
QUARRY_DEVICE void copy_async_wait() {
  emulator::copy_async_wait(Pending);
}

}  // namespace quarry::arch
