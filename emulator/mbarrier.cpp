#include "emulator/mbarrier.hpp"

#include <algorithm>

#include "emulator/checks.hpp"
#include "emulator/cluster.hpp"
#include "emulator/device.hpp"
#include "emulator/device_sm90.hpp"

namespace quarry::emulator {
namespace {

/// Arrivals of a phase, and bytes that it may wait for (PTX ISA, mbarrier object).
constexpr int most_arrivals = (1 << 20) - 1;
constexpr int most_bytes = (1 << 20) - 1;
constexpr unsigned barrier_bytes = 8;

std::string name_of(const Mbarrier& barrier) {
  return "the mbarrier at byte " + std::to_string(barrier.address - SharedMemory::base) + " of shared memory";
}

std::string number(std::uint64_t n) { return std::to_string(n); }

/// Bytes of loads that are still to land.
std::int64_t bytes_to_land(const Mbarrier& barrier) {
  std::int64_t bytes = 0;
  for (const BulkLoad& load : barrier.loads) {
    if (!load.landed) bytes += load.bytes;
  }
  return bytes;
}

/// Lets threads that wait for the barrier look again.
void wake_waiting(Block& owner, const Mbarrier& barrier) {
  for (unsigned i = 0; i < owner.thread_count(); ++i) {
    Thread& thread = owner.thread(i);
    if (thread.waiting == Waiting::mbarrier && thread.mbarrier == &barrier) owner.wake(thread);
  }
}

/// Hands on that loads have read global memory: the step of each thread that started some, of which each
/// block has few.
void hand_on_reads(Mbarrier& barrier) {
  const BulkLoad* last = nullptr;
  for (const BulkLoad& load : barrier.loads) {
    if (last != nullptr && last->starter == load.starter && last->clock.own == load.clock.own) continue;
    const View read = with_known_step(nullptr, load.starter->index, load.clock.own);
    barrier.arriving = later(barrier.arriving, {load.starter->block->index(), read, nullptr});
    last = &load;
  }
}

/// The current phase is over: who waits for it knows what arrivals handed on, and that its loads have read
/// and landed.
void end_phase(Block& owner, Mbarrier& barrier) {
  ++barrier.ended;
  if (!barrier.loads.empty()) {
    hand_on_reads(barrier);
    for (const BulkLoad& load : barrier.loads) {
      Access over = owner.shared().bulk(load.access);
      over.kind = AccessKind::bulk_copy;
      over.step = barrier.ended;
      owner.shared().settle(load.access, over);
      barrier.last_load = over;
    }
    barrier.loads.clear();
    barrier.last_loads = barrier.ended;
    const View landed = with_known_step(nullptr, barrier.actor, barrier.ended);
    barrier.arriving = later(barrier.arriving, {owner.index(), landed, nullptr});
  }
  barrier.handed = later(barrier.handed, barrier.arriving);
  barrier.arriving = {};
  barrier.missing = barrier.arrivals;
  ++owner.state().progress;
  wake_waiting(owner, barrier);
}

/// Ends the phase where nothing is missing. @return what is wrong, "" where nothing is
std::string look_at_phase(Block& owner, Mbarrier& barrier) {
  if (barrier.missing > 0) return "";
  const std::int64_t left = barrier.bytes - bytes_to_land(barrier);
  if (left < 0) {
    return "lets " + name_of(barrier) + " of block " + std::to_string(owner.index()) + " count " +
           std::to_string(-left) + " bytes of copies more than its phase " + number(barrier.ended) +
           " expects, the first of them " + text_of(owner.shared().bulk(barrier.loads.front().access));
  }
  if (barrier.bytes == 0) {
    end_phase(owner, barrier);
  } else if (barrier.waiting > 0 && !barrier.may_land && bytes_to_land(barrier) > 0) {
    barrier.may_land = true;
    owner.cluster().may_land(owner, barrier);
  }
  return "";
}

void arrive(Thread& thread, Mbarrier& barrier, int bytes) {
  barrier.arriving = later(barrier.arriving, release(thread.clock, thread.block->index(), thread.index));
  --barrier.missing;
  barrier.bytes += bytes;
}

/// What makes an arrival illegal; "" where nothing does.
std::string fault_of_arrival(const Mbarrier& barrier, int bytes) {
  if (bytes < 0 || bytes > most_bytes || barrier.bytes + bytes > most_bytes) {
    return "expects " + std::to_string(bytes) + " bytes at " + name_of(barrier) + ", which counts up to " +
           std::to_string(most_bytes);
  }
  if (barrier.missing == 0) {
    return "arrives at " + name_of(barrier) + ", whose phase " + number(barrier.ended) + " has had its " +
           std::to_string(barrier.arrivals) + " arrivals and still waits for " +
           std::to_string(barrier.bytes) + " bytes";
  }
  return "";
}

/// The barrier that the thread uses; ends the block where it may not.
Mbarrier& used(Thread& thread, Block& owner, unsigned address, const Site& site) {
  Mbarrier* const barrier = find_mbarrier(thread, owner, address, nullptr);
  if (barrier == nullptr) {
    thread.block->fail(thread, [&] {
      std::string fault;
      find_mbarrier(thread, owner, address, &fault);
      return thread_text(thread.index, thread.block->index()) + " " + fault + ", at " + text_of(site);
    });
  }
  return *barrier;
}

void arrive_at(Block& owner, unsigned address, int bytes, const Site& site) {
  Thread& thread = *current;
  Mbarrier& barrier = used(thread, owner, address, site);
  thread.accesses = 0;
  check(thread, fault_of_arrival(barrier, bytes), site);
  arrive(thread, barrier, bytes);
  check(thread, look_at_phase(owner, barrier), site);
}

}  // namespace

std::string waiting_text_of(const Mbarrier& barrier, unsigned parity) {
  std::string text = name_of(barrier) + " for a phase of parity " + std::to_string(parity) +
                     " to end; its phase " + number(barrier.ended) + " lacks " +
                     std::to_string(barrier.missing) + " of " + std::to_string(barrier.arrivals) +
                     " arrivals and " + std::to_string(barrier.bytes) + " bytes of copies";
  const std::int64_t under_way = bytes_to_land(barrier);
  if (under_way > 0) text += " (" + std::to_string(under_way) + " under way)";
  return text;
}

std::string land_loads(Block& owner, Mbarrier& barrier) {
  for (BulkLoad& load : barrier.loads) {
    if (load.landed) continue;
    std::string fault = land(owner, load);
    if (!fault.empty()) return fault;
    barrier.bytes -= load.bytes;
  }
  return look_at_phase(owner, barrier);
}

std::string add_load(Block& owner, Mbarrier& barrier, const BulkLoad& load, bool early) {
  BulkLoad& added = barrier.loads.emplace_back(load);
  if (early) {
    std::string fault = land(owner, added);
    if (!fault.empty()) return fault;
    barrier.bytes -= added.bytes;
  }
  return look_at_phase(owner, barrier);
}

Mbarrier* find_mbarrier(const Thread& by, Block& owner, unsigned address, std::string* fault) {
  const auto found = owner.mbarriers().find(address);
  if (found == owner.mbarriers().end()) {
    if (fault != nullptr) {
      *fault = "uses an mbarrier at byte " +
               std::to_string(static_cast<std::int64_t>(address) - SharedMemory::base) +
               " of shared memory of block " + std::to_string(owner.index()) + ", where none was made";
    }
    return nullptr;
  }
  Mbarrier& barrier = found->second;
  const bool known = by.block == &owner ? knows(by.clock, by.index, barrier.init, 1)
                                        : knows_of_block(by.clock, owner.index(), barrier.init, 1);
  if (known) return &barrier;
  if (fault != nullptr) {
    *fault = "uses " + name_of(barrier) + " of block " + std::to_string(owner.index()) + ", " +
             text_of(barrier.made) + ", " +
             (!barrier.fenced ? "which no mbarrier_init_fence follows"
                              : "and nothing orders it after the mbarrier_init_fence that follows");
  }
  return nullptr;
}

std::string fault_at_block_end(const Mbarrier& barrier, const Block& owner) {
  auto& block = const_cast<Block&>(owner);
  const auto who = [&] { return "block " + std::to_string(owner.index()) + " ends "; };
  if (!barrier.loads.empty()) {
    return who() + "while " + name_of(barrier) + " counts a bulk copy to its shared memory, " +
           text_of(block.shared().bulk(barrier.loads.front().access));
  }
  if (barrier.last_loads == 0) return "";
  for (unsigned i = 0; i < block.thread_count(); ++i) {
    if (knows(block.thread(i).clock, i, barrier.actor, barrier.last_loads)) return "";
  }
  return who() + "and none of its threads has waited for the last bulk copy that " + name_of(barrier) +
         " counted, " + text_of(barrier.last_load);
}

void mbarrier_init(unsigned barrier, int arrivals, const Site& site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  if (arrivals < 1 || arrivals > most_arrivals) {
    check(thread, "makes an mbarrier of " + std::to_string(arrivals) + " arrivals", site);
  }
  SharedMemory& shared = block.shared();
  const Access access = {site, block.index(), never, static_cast<std::uint16_t>(thread.index),
                         AccessKind::mbarrier};
  check(thread,
        shared.begin_bulk_write(on_shared(thread), shared.add_bulk(access), barrier, barrier_bytes,
                                barrier_bytes),
        site);
  Mbarrier& made = block.mbarriers()[barrier];
  made = {};
  made.address = barrier;
  made.arrivals = made.missing = static_cast<unsigned>(arrivals);
  made.made = access;
  made.init = block.new_actor();
  made.actor = block.new_actor();
}

void mbarrier_init_fence(const Site&) {
  Thread& thread = *current;
  for (auto& [address, barrier] : thread.block->mbarriers()) {
    if (barrier.made.thread != thread.index || barrier.fenced) continue;
    barrier.fenced = true;
    thread.clock.view = with_known_step(thread.clock.view, barrier.init, 1);
    thread.inits = with_known_step(thread.inits, barrier.init, 1);
  }
}

void mbarrier_arrive(unsigned barrier, const Site& site) { arrive_at(*current->block, barrier, 0, site); }

void mbarrier_arrive_expect(unsigned barrier, int bytes, const Site& site) {
  arrive_at(*current->block, barrier, bytes, site);
}

void mbarrier_arrive_copied(unsigned barrier, const Site& site) {
  copy_async_commit();
  copy_async_wait(0);
  arrive_at(*current->block, barrier, 0, site);
}

void mbarrier_arrive_at(unsigned barrier, int rank, const Site& site) {
  arrive_at(peer(rank, AccessKind::write, site), barrier, 0, site);
}

void mbarrier_wait(unsigned barrier, int parity, const Site& site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  Mbarrier& at = used(thread, block, barrier, site);
  if (parity != 0 && parity != 1) check(thread, "waits for parity " + std::to_string(parity), site);
  thread.accesses = 0;
  ++block.count().mbarrier_waits;
  ++thread.waits;
  thread.mbarrier = &at;
  thread.parity = static_cast<unsigned>(parity);
  while (at.ended % 2 == thread.parity) {
    ++at.waiting;
    check(thread, look_at_phase(block, at), site);
    if (at.ended % 2 == thread.parity) block.wait(thread, Waiting::mbarrier, site);
    --at.waiting;
  }
  acquire(thread.clock, block.index(), at.handed);
}

}  // namespace quarry::emulator
