#include "emulator/warp_log.hpp"

#include <algorithm>
#include <map>

namespace quarry::emulator {
namespace {

constexpr unsigned banks = 32;
constexpr unsigned word_bytes = 4;
constexpr unsigned sector_bytes = 32;
constexpr unsigned pass_bytes = banks * word_bytes;

/// Passes that some lanes take at once: as many as there are different words in the busiest bank.
unsigned passes_of(std::span<const LaneAddress> lanes) {
  std::array<std::array<std::uint64_t, 32>, banks> words;
  std::array<unsigned, banks> used = {};
  unsigned most = 1;
  for (const LaneAddress& lane : lanes) {
    const std::uint64_t end = (lane.address + lane.bytes + word_bytes - 1) / word_bytes;
    for (std::uint64_t word = lane.address / word_bytes; word < end; ++word) {
      unsigned& count = used[word % banks];
      auto& known = words[word % banks];
      if (std::find(known.begin(), known.begin() + count, word) != known.begin() + count) continue;
      known[count++] = word;
      most = std::max(most, count);
    }
  }
  return most;
}

/// The hardware serves as many lanes at once as could fill the banks once.
void count_shared(SharedCounters& counters, std::span<const LaneAddress> lanes) {
  unsigned widest = word_bytes;
  for (const LaneAddress& lane : lanes) widest = std::max(widest, lane.bytes);
  const std::size_t together = std::max(1U, pass_bytes / widest);
  ++counters.instructions;
  for (std::size_t first = 0; first < lanes.size(); first += together) {
    const unsigned passes = passes_of(lanes.subspan(first, std::min(together, lanes.size() - first)));
    counters.passes += passes;
    counters.conflicts += passes - 1;
  }
}

void count_global(GlobalCounters& counters, std::span<const LaneAddress> lanes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;  // of bytes, begin and end
  for (const LaneAddress& lane : lanes) {
    if (lane.bytes > 0) ranges.emplace_back(lane.address, lane.address + lane.bytes);
  }
  if (ranges.empty()) return;
  std::ranges::sort(ranges);
  ++counters.instructions;
  std::uint64_t bytes_end = 0;
  std::uint64_t sectors_end = 0;
  for (const auto& [begin, end] : ranges) {
    if (end > bytes_end) counters.bytes += end - std::max(begin, bytes_end);
    bytes_end = std::max(bytes_end, end);
    const std::uint64_t first = std::max(begin / sector_bytes, sectors_end);
    const std::uint64_t last = (end + sector_bytes - 1) / sector_bytes;
    if (last > first) counters.sectors += last - first;
    sectors_end = std::max(sectors_end, last);
  }
}

SharedCounters operator+(const SharedCounters& a, const SharedCounters& b) {
  return {a.instructions + b.instructions, a.passes + b.passes, a.conflicts + b.conflicts};
}

GlobalCounters operator+(const GlobalCounters& a, const GlobalCounters& b) {
  return {a.instructions + b.instructions, a.sectors + b.sectors, a.bytes + b.bytes};
}

}  // namespace

Counters& Counters::operator+=(const Counters& other) {
  shared_load = shared_load + other.shared_load;
  shared_store = shared_store + other.shared_store;
  matrix_load = matrix_load + other.matrix_load;
  matrix_store = matrix_store + other.matrix_store;
  copy_store = copy_store + other.copy_store;
  global_load = global_load + other.global_load;
  global_store = global_store + other.global_store;
  copy_load = copy_load + other.copy_load;
  matrix_multiplies += other.matrix_multiplies;
  warpgroup_multiplies += other.warpgroup_multiplies;
  warpgroup_groups += other.warpgroup_groups;
  block_barriers += other.block_barriers;
  named_barriers += other.named_barriers;
  warp_barriers += other.warp_barriers;
  atomics += other.atomics;
  bytes_copied += other.bytes_copied;
  mbarrier_waits += other.mbarrier_waits;
  cluster_barriers += other.cluster_barriers;
  tensor_loads += other.tensor_loads;
  tensor_stores += other.tensor_stores;
  tensor_bytes_read += other.tensor_bytes_read;
  tensor_bytes_landed += other.tensor_bytes_landed;
  tensor_bytes_stored += other.tensor_bytes_stored;
  peer_bytes += other.peer_bytes;
  return *this;
}

void count(Counters& counters, MemoryInstruction instruction, std::span<const LaneAddress> lanes) {
  switch (instruction) {
    case MemoryInstruction::shared_load: return count_shared(counters.shared_load, lanes);
    case MemoryInstruction::shared_store: return count_shared(counters.shared_store, lanes);
    case MemoryInstruction::matrix_load: return count_shared(counters.matrix_load, lanes);
    case MemoryInstruction::matrix_store: return count_shared(counters.matrix_store, lanes);
    case MemoryInstruction::copy_store: return count_shared(counters.copy_store, lanes);
    case MemoryInstruction::global_load: return count_global(counters.global_load, lanes);
    case MemoryInstruction::global_store: return count_global(counters.global_store, lanes);
    case MemoryInstruction::copy_load: return count_global(counters.copy_load, lanes);
  }
}

bool WarpLog::lanes_agree() const {
  return std::ranges::all_of(lanes_, [&](const std::vector<LaneAccess>& lane) {
    return std::ranges::equal(lane, lanes_[0], [](const LaneAccess& a, const LaneAccess& b) {
      return a.site == b.site && a.instruction == b.instruction;
    });
  });
}

void WarpLog::flush(Counters& counters) {
  if (lanes_agree()) {
    std::array<LaneAddress, 32> together;
    for (std::size_t i = 0; i < lanes_[0].size(); ++i) {
      for (std::size_t lane = 0; lane < 32; ++lane)
        together[lane] = {lanes_[lane][i].address, lanes_[lane][i].bytes};
      count(counters, lanes_[0][i].instruction, together);
    }
  } else {
    flush_by_place(counters);
  }
  clear();
}

void WarpLog::flush_by_place(Counters& counters) {
  struct Group {
    MemoryInstruction instruction;
    std::vector<LaneAddress> lanes;
  };
  std::map<std::pair<std::uintptr_t, MemoryInstruction>, std::vector<Group>> places;
  for (const std::vector<LaneAccess>& lane : lanes_) {
    std::map<std::pair<std::uintptr_t, MemoryInstruction>, std::size_t> turns;
    for (const LaneAccess& access : lane) {
      const std::pair place(access.site, access.instruction);
      std::vector<Group>& groups = places[place];
      const std::size_t turn = turns[place]++;
      if (turn == groups.size()) groups.push_back({access.instruction, {}});
      groups[turn].lanes.push_back({access.address, access.bytes});
    }
  }
  for (const auto& [place, groups] : places) {
    for (const Group& group : groups) count(counters, group.instruction, group.lanes);
  }
}

void WarpLog::clear() {
  for (std::vector<LaneAccess>& lane : lanes_) lane.clear();
}

}  // namespace quarry::emulator
