/// What a launch does, counted: facts of the source and the problem, not of a clock.
#pragma once

#include <cstdint>

namespace quarry::emulator {

/// Accesses to shared memory by one kind of instruction, of whole warps.
struct SharedCounters {
  std::uint64_t instructions = 0;
  /// Passes over the 32 banks that these take. One access of 4 bytes by each lane is a pass; of 8 bytes, half
  /// a warp; of 16 bytes, and of the lines of a matrix load, a quarter.
  std::uint64_t passes = 0;
  /// Passes that are there only since lanes want different words of one bank.
  std::uint64_t conflicts = 0;
};

/// Accesses to global memory by one kind of instruction, of whole warps.
struct GlobalCounters {
  std::uint64_t instructions = 0;
  /// Sectors of 32 bytes that these touch, each counted once an instruction.
  std::uint64_t sectors = 0;
  /// Bytes that they ask for, each counted once an instruction.
  std::uint64_t bytes = 0;

  /// Share of the touched sectors that was asked for, 0 to 1; 1 where nothing was.
  double efficiency() const {
    return sectors == 0 ? 1.0 : static_cast<double>(bytes) / (32.0 * static_cast<double>(sectors));
  }
};

/// Sums over all blocks of a launch.
struct Counters {
  SharedCounters shared_load;
  SharedCounters shared_store;
  SharedCounters matrix_load;   ///< ldmatrix
  SharedCounters matrix_store;  ///< stmatrix
  SharedCounters copy_store;    ///< what asynchronous copies write
  GlobalCounters global_load;
  GlobalCounters global_store;
  GlobalCounters copy_load;  ///< what asynchronous copies read
  std::uint64_t matrix_multiplies = 0;
  std::uint64_t warpgroup_multiplies = 0;  ///< of 64 rows, N columns and a step of 16 along K
  std::uint64_t warpgroup_groups = 0;      ///< of such multiplies that were waited for together
  std::uint64_t block_barriers = 0;        ///< one for each time that a whole block met
  std::uint64_t named_barriers = 0;
  std::uint64_t warp_barriers = 0;
  std::uint64_t atomics = 0;
  std::uint64_t bytes_copied = 0;  ///< by asynchronous copies, zeros that they filled in not counted
  std::uint64_t mbarrier_waits = 0;
  std::uint64_t cluster_barriers = 0;  ///< one for each time that a whole cluster met
  std::uint64_t tensor_loads = 0;
  std::uint64_t tensor_stores = 0;
  /// By bulk tensor copies: bytes read from global memory, zeros that they filled in not counted; written to
  /// shared memory, in each block that a load went to; written to global memory.
  std::uint64_t tensor_bytes_read = 0;
  std::uint64_t tensor_bytes_landed = 0;
  std::uint64_t tensor_bytes_stored = 0;
  std::uint64_t peer_bytes = 0;  ///< read from the shared memory of other blocks

  Counters& operator+=(const Counters& other);
};

}  // namespace quarry::emulator
