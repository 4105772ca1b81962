#include "emulator/device.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/block.hpp"
#include "emulator/checks.hpp"
#include "emulator/cluster.hpp"

namespace quarry::emulator {
namespace {

Accessor accessor(Thread& thread, RecentAccesses& recent) {
  return {thread.block->index(), thread.index, &thread.clock, &recent};
}

/// So many accesses in a row make no thread that works: it waits for what it does not let others do.
constexpr unsigned most_accesses = 1 << 18;

void log(Thread& thread, MemoryInstruction instruction, const Site& site, std::uint64_t address,
         unsigned bytes) {
  // An access moves 16 bytes at most; what is wider takes several instructions.
  for (unsigned done = 0; done == 0 || done < bytes; done += 16) {
    thread.block->warp_of(thread).log.add(thread.lane(), instruction, site, address + done,
                                          std::min(16U, bytes - done));
  }
}

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

void land(Thread& thread, Copy& copy) {
  std::byte bytes[16] = {};
  if (copy.valid > 0) std::memcpy(bytes, copy.from, copy.valid);
  thread.block->shared().land(copy.to, bytes, copy.bytes);
  copy.landed = true;
}

void meet(Collective collective, const Site& site, void (*complete)(Warp&)) {
  current->block->meet(*current, collective, site, complete);
}

/// Remembers the change, and lets those look again who look at this counter.
void counter_changed(const void* counter, const Site& site) {
  GlobalMemory& memory = current->block->state().memory;
  memory.changed(on_global(*current), counter, site);
  current->changes[counter] = memory.change_of(counter);
  ++current->block->state().progress;
  for (Cluster* const cluster : current->block->state().in_flight) cluster->wake_for(counter);
}

/// What a counter holds, as one atomic operation sees it.
int use_counter(const int* counter, const Site& site) {
  Thread& thread = *current;
  check_earlier_kernels(thread, site);
  check(thread, thread.block->state().memory.use_counter(on_global(thread), counter, site), site);
  thread.changes[counter] = thread.block->state().memory.change_of(counter);
  ++thread.block->count().atomics;
  return *counter;
}

/// The same for an operation that leaves it as it is. Who looks a third time and finds the same waits until
/// somebody changes it, or nobody else can go on.
int look(const int* counter, const Site& site) {
  constexpr int patience = 3;
  Thread& thread = *current;
  for (;;) {
    const int value = use_counter(counter, site);
    const bool same = thread.counter == counter && thread.counter_value == value;
    thread.looks = same ? thread.looks + 1 : 1;
    thread.counter = counter;
    thread.counter_value = value;
    if (thread.looks < patience) return value;
    thread.block->wait(thread, Waiting::counter, site);
    thread.counter = nullptr;
  }
}

}  // namespace

Accessor on_shared(Thread& thread) { return accessor(thread, thread.shared_accesses); }
Accessor on_global(Thread& thread) { return accessor(thread, thread.global_accesses); }

void check(Thread& thread, std::string fault, const Site& site) {
  if (fault.empty()) {
    if (++thread.accesses <= most_accesses) return;
    fault = "makes " + std::to_string(most_accesses) +
            " accesses without a barrier or a look at a counter (load_acquire): it seems to wait for another";
  }
  if (!fault.starts_with("race:")) {
    fault = thread_text(thread.index, thread.block->index()) + " " + fault + ", at " + text_of(site);
  }
  thread.block->fail(thread, [&] { return std::move(fault); });
}

void check_earlier_kernels(Thread& thread, const Site& site) {
  Block& block = *thread.block;
  if (!block.state().launch.dependent || knows(thread.clock, thread.index, block.earlier_kernels(), 1))
    return;
  check(thread, "touches global memory while earlier kernels may still run (wait_for_earlier_kernels)", site);
}

bool lands_early(Thread& thread) {
  switch (thread.block->state().options.copies) {
    case CopyTiming::late: return false;
    case CopyTiming::early: return true;
    default: return thread.block->dice().below(2) == 0;
  }
}

unsigned block_index() { return current->block->index(); }
unsigned grid_blocks() { return current->block->state().launch.grid; }
int thread_index() { return static_cast<int>(current->index); }

unsigned shared_base() { return SharedMemory::base; }

void shared_read_by(MemoryInstruction instruction, unsigned from, void* to, unsigned bytes,
                    unsigned alignment, const Site& site) {
  Thread& thread = *current;
  check(thread, thread.block->shared().read(on_shared(thread), from, to, bytes, alignment, site), site);
  log(thread, instruction, site, from, bytes);
}

void shared_read(unsigned from, void* to, unsigned bytes, unsigned alignment, const Site& site) {
  shared_read_by(MemoryInstruction::shared_load, from, to, bytes, alignment, site);
}

void shared_write_by(MemoryInstruction instruction, unsigned to, const void* from, unsigned bytes,
                     unsigned alignment, const Site& site) {
  Thread& thread = *current;
  check(thread, thread.block->shared().write(on_shared(thread), to, from, bytes, alignment, site), site);
  log(thread, instruction, site, to, bytes);
}

void shared_read_unwritten(unsigned first, unsigned bytes, const Site& site) {
  check(*current, current->block->shared().allow_unwritten(first, bytes), site);
}

void shared_write(unsigned to, const void* from, unsigned bytes, unsigned alignment, const Site& site) {
  shared_write_by(MemoryInstruction::shared_store, to, from, bytes, alignment, site);
}

void global_read(const void* from, void* to, unsigned bytes, unsigned alignment, const Site& site) {
  Thread& thread = *current;
  check_earlier_kernels(thread, site);
  check(thread, thread.block->state().memory.read(on_global(thread), from, to, bytes, alignment, site), site);
  log(thread, MemoryInstruction::global_load, site, number_of(from), bytes);
}

void global_write(void* to, const void* from, unsigned bytes, unsigned alignment, const Site& site) {
  Thread& thread = *current;
  check_earlier_kernels(thread, site);
  check(thread, thread.block->state().memory.write(on_global(thread), to, from, bytes, alignment, site),
        site);
  if (thread.block->state().memory.blocks_wait()) ++thread.block->state().progress;
  log(thread, MemoryInstruction::global_store, site, number_of(to), bytes);
}

void copy_async(unsigned to, const void* from, unsigned bytes, int valid, const Site& site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  if (valid < 0 || static_cast<unsigned>(valid) > bytes) {
    check(thread, "copies " + std::to_string(valid) + " valid bytes of " + std::to_string(bytes), site);
  }
  // The address must be aligned whether anything is read or not (PTX ISA, cp.async).
  if (number_of(from) % bytes != 0) {
    check(thread, "copies " + std::to_string(bytes) + " bytes from an address that is no multiple of them",
          site);
  }
  Copy copy = {to, from, bytes, static_cast<unsigned>(valid), site, false};
  check(thread, block.shared().begin_copy(on_shared(thread), to, bytes, site), site);
  if (valid > 0) {
    check_earlier_kernels(thread, site);
    std::byte ignored[16];
    check(thread, block.state().memory.read(on_global(thread), from, ignored, copy.valid, 1, site), site);
  }
  if (lands_early(thread)) land(thread, copy);
  thread.copies.push_back(copy);
  ++thread.in_no_group;
  block.count().bytes_copied += copy.valid;
  log(thread, MemoryInstruction::copy_store, site, to, bytes);
  log(thread, MemoryInstruction::copy_load, site, number_of(from), copy.valid);
}

void copy_async_commit() {
  current->groups.push_back(current->in_no_group);
  current->in_no_group = 0;
}

void copy_async_wait(unsigned pending) {
  Thread& thread = *current;
  while (thread.groups.size() > pending) {
    for (unsigned left = thread.groups.front(); left > 0; --left) {
      Copy& copy = thread.copies.front();
      if (!copy.landed) land(thread, copy);
      thread.block->shared().end_copy(on_shared(thread), copy.to, copy.bytes, copy.site);
      thread.copies.pop_front();
    }
    thread.groups.pop_front();
  }
}

void block_barrier(const Site& site) { current->block->arrive_at_block_barrier(*current, site); }

void named_barrier(int id, int threads, bool waits, const Site& site) {
  current->block->arrive_at_named_barrier(*current, id, static_cast<unsigned>(std::max(threads, 0)), waits,
                                          site);
}

void async_proxy_fence(const Site&) {
  current->block->shared().async_proxy_fence(current->index, current->clock);
}

int load_acquire(const int* from, const Site& site) {
  const int value = look(from, site);
  Block& block = *current->block;
  acquire(current->clock, block.index(), block.state().memory.released_at(from));
  return value;
}

void store_release(int* to, int value, const Site& site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  check(thread, block.state().memory.set_counter(on_global(thread), to, thread.changes[to], site), site);
  use_counter(to, site);
  counter_changed(to, site);
  block.state().memory.released_at(to) = release(thread.clock, block.index(), thread.index);
  *to = value;
}

int fetch_add(int* to, int value, const Site& site) {
  const int before = value == 0 ? look(to, site) : use_counter(to, site);
  *to = static_cast<int>(static_cast<unsigned>(before) + static_cast<unsigned>(value));
  if (value != 0) counter_changed(to, site);
  return before;
}

int warp_index(const Site& site) {
  meet(Collective::warp_index, site, [](Warp&) {});
  return static_cast<int>(current->index / 32);
}

int shuffle(int value, int lane, const Site& site) {
  Thread& thread = *current;
  Warp& warp = thread.block->warp_of(thread);
  warp.in[thread.lane()][0] = static_cast<std::uint32_t>(value);
  warp.in[thread.lane()][1] = static_cast<std::uint32_t>(lane) % 32;
  meet(Collective::shuffle, site, [](Warp& all) {
    for (std::size_t i = 0; i < 32; ++i) all.out[i][0] = all.in[all.in[i][1]][0];
  });
  return static_cast<int>(warp.out[thread.lane()][0]);
}

int first_lane(bool value, const Site& site) {
  Thread& thread = *current;
  Warp& warp = thread.block->warp_of(thread);
  warp.in[thread.lane()][0] = value ? 1 : 0;
  meet(Collective::first_lane, site, [](Warp& all) {
    std::uint32_t first = 0;
    while (first < 32 && ((all.all >> first & 1) == 0 || all.in[first][0] == 0)) ++first;
    for (auto& out : all.out) out[0] = first;
  });
  const std::uint32_t first = warp.out[thread.lane()][0];
  return first < 32 ? static_cast<int>(first) : -1;
}

void warp_barrier(const Site& site) {
  meet(Collective::warp_barrier, site, [](Warp& warp) {
    Block& block = *current->block;
    ++block.count().warp_barriers;
    block.meet_clocks(warp, current->index / 32 * 32);
  });
}

}  // namespace quarry::emulator
