/// From the accesses of single lanes to the instructions of a warp, whose bank conflicts and sectors count.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/counters.hpp"
#include "emulator/site.hpp"

namespace quarry::emulator {

/// The instructions that are counted by the addresses of their lanes.
enum class MemoryInstruction : std::uint8_t {
  shared_load,
  shared_store,
  matrix_load,
  matrix_store,
  copy_store,
  global_load,
  global_store,
  copy_load,
};

/// The accesses of one warp since all of its lanes were last at the same place.
///
/// Lanes run one after another here, so what is one instruction of a warp must be put together: the n-th
/// access of each lane at the same place of the source belongs to one. Where lanes skip accesses by a branch,
/// that may join the turns of a loop wrongly until the next barrier: the counters are exact for code whose
/// lanes do the same.
class WarpLog {
 public:
  void add(unsigned lane, MemoryInstruction instruction, const Site& site, std::uint64_t address,
           unsigned bytes) {
    lanes_[lane].push_back({key_of(site), address, bytes, instruction});
  }
  /// Counts all accesses and forgets them.
  void flush(Counters& counters);
  /// Forgets them.
  void clear();

 private:
  struct LaneAccess {
    std::uintptr_t site;
    std::uint64_t address;
    std::uint32_t bytes;
    MemoryInstruction instruction;
  };
  bool lanes_agree() const;
  void flush_by_place(Counters& counters);

  std::array<std::vector<LaneAccess>, 32> lanes_;
};

/// What one lane of a warp's instruction accesses.
struct LaneAddress {
  std::uint64_t address;
  unsigned bytes;
};

/// Adds an instruction of the lanes that take part, in their order, to the counters.
void count(Counters& counters, MemoryInstruction instruction, std::span<const LaneAddress> lanes);

}  // namespace quarry::emulator
