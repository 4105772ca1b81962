/// A kernel compiled for the emulator.
#pragma once

namespace quarry::emulator {

/// QUARRY_ENTRY defines one for each entry, under the entry's name.
struct Entry {
  /// Runs one thread; `params` points to the kernel's parameter struct.
  void (*run)(const void* params);
  /// The most threads of a block that the kernel was compiled for.
  int max_threads;
};

}  // namespace quarry::emulator
