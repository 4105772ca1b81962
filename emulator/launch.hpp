/// Running a grid of a kernel's own source on the CPU: a fiber a thread, every access checked.
#pragma once

#include <cstdint>
#include <string>

#include "emulator/counters.hpp"
#include "emulator/entry.hpp"
#include "emulator/global_memory.hpp"

namespace quarry::emulator {

/// What to run, as a CUDA launch of a one-dimensional grid says it.
struct Launch {
  const Entry* entry = nullptr;
  const void* params = nullptr;
  unsigned grid = 0;
  unsigned threads = 0;
  /// Bytes of dynamic shared memory.
  unsigned shared_memory = 0;
  /// Whether blocks may wait for each other. They then run a few at a time on one thread of the host, in an
  /// order that the seed decides; others run on all.
  bool blocks_wait = false;
  /// Blocks of a cluster, which run at the same time; the grid is a multiple of it.
  unsigned cluster = 1;
  /// Whether the kernel may start while the one before it still runs: nothing may touch global memory then,
  /// but behind wait_for_earlier_kernels.
  bool dependent = false;
};

/// When the bytes of an asynchronous copy arrive. Each is legal; a right kernel cannot tell.
enum class CopyTiming : std::uint8_t {
  late,   ///< when the thread that started it waits for it
  early,  ///< when it is started
  mixed,  ///< the seed decides for each
};

struct Options {
  /// Decides the order of warps and blocks, and mixed copies: the same seed, the same run.
  std::uint64_t seed = 0;
  CopyTiming copies = CopyTiming::late;
  MemoryChecks checks = {};
  /// Threads of the host for blocks that do not wait for each other; 0: one a processor.
  int host_threads = 0;
};

/// How a launch went.
struct Outcome {
  /// What the kernel did wrong first, "" where nothing: which thread, at which place of the source. With
  /// several threads of the host, what blocks do to each other may be found at another place each time.
  std::string fault;
  Counters counters;

  bool good() const { return fault.empty(); }
};

/// Runs the grid to its end, or to the first fault; memory is as the kernel left it. Reports a deadlock as
/// soon as no thread can go on.
/// @pre the launch keeps to what a device allows (see fault_of)
Outcome run(const Launch& launch, GlobalMemory& memory, const Options& options = {});

/// Why a device would refuse the launch, in the words of the CUDA runtime's error; "" where it would not: a
/// grid of 1 to 2^31 - 1 blocks of 1 to 1024 threads, as many as the kernel was compiled for, in whole
/// clusters of 1 to 8, and no more than `shared_memory_limit` bytes of shared memory. (The runtime of
/// CUDA 13.0 has one error for all, as tried on an H200.)
std::string fault_of(const Launch& launch, unsigned shared_memory_limit);

}  // namespace quarry::emulator
