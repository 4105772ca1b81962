/// Where in the source a kernel does something.
#pragma once

#include <bit>
#include <cstdint>
#include <source_location>

namespace quarry::emulator {

/// A place of a kernel's source. Functions of arch/emulated/ take the place of their call as a default
/// argument, so that a report can name it.
using Site = std::source_location;

/// A number that tells places apart.
inline std::uintptr_t key_of(const Site& site) {
  static_assert(sizeof(Site) == sizeof(std::uintptr_t));
  return std::bit_cast<std::uintptr_t>(site);
}

}  // namespace quarry::emulator
