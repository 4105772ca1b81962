/// Loads and stores; see arch/ptx/memory.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "arch/types.hpp"
#include "emulator/device.hpp"

namespace quarry::arch {

/// An access is as wide as the value, 16 bytes at most, and as aligned.
template <class T>
inline constexpr unsigned access_alignment = sizeof(T) < 16 ? sizeof(T) : 16;

QUARRY_DEVICE SharedAddress shared_memory() { return {emulator::shared_base()}; }

template <class T>
QUARRY_DEVICE T shared_load(SharedAddress from, const emulator::Site& site = emulator::Site::current()) {
  T value;
  emulator::shared_read(from.value, &value, sizeof value, access_alignment<T>, site);
  return value;
}

template <class T>
QUARRY_DEVICE void shared_store(SharedAddress to, const T& value,
                                const emulator::Site& site = emulator::Site::current()) {
  emulator::shared_write(to.value, &value, sizeof value, access_alignment<T>, site);
}

template <class T>
QUARRY_DEVICE T global_load(const void* from, const emulator::Site& site = emulator::Site::current()) {
  T value;
  emulator::global_read(from, &value, sizeof value, access_alignment<T>, site);
  return value;
}

template <class T>
QUARRY_DEVICE void global_store(void* to, const T& value,
                                const emulator::Site& site = emulator::Site::current()) {
  emulator::global_write(to, &value, sizeof value, access_alignment<T>, site);
}

}  // namespace quarry::arch
