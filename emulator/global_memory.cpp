#include "emulator/global_memory.hpp"

#include <algorithm>
#include <cstring>

namespace quarry::emulator {

/// Holds the lines of an access, in the order of their locks.
class GlobalMemory::Lines {
 public:
  Lines(GlobalMemory& memory, const void* address, unsigned bytes) : memory_(memory) {
    if (memory.blocks_wait_) return;  // all on one thread
    const auto first = reinterpret_cast<std::uintptr_t>(address) / line_bytes;
    const auto last = (reinterpret_cast<std::uintptr_t>(address) + bytes - 1) / line_bytes;
    held_[0] = first % locks;
    held_[1] = last % locks;
    count_ = first == last ? 1 : 2;
    if (count_ == 2 && held_[0] > held_[1]) std::swap(held_[0], held_[1]);
    for (int i = 0; i < count_; ++i) {
      while (memory_.locks_[held_[i]].test_and_set(std::memory_order_acquire)) {
      }
    }
  }
  ~Lines() {
    for (int i = 0; i < count_; ++i) memory_.locks_[held_[i]].clear(std::memory_order_release);
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

 private:
  static constexpr std::uintptr_t line_bytes = 256;
  GlobalMemory& memory_;
  std::size_t held_[2] = {};
  int count_ = 0;
};

void GlobalMemory::add(const void* data, std::size_t bytes, MemoryUse use, std::string name) {
  if (bytes == 0) return;
  const auto* const begin = static_cast<const std::byte*>(data);
  Region& region = regions_.emplace_back(Region{begin, begin + bytes, use, std::move(name), {}});
  if (use == MemoryUse::input) return;
  region.cells.assign(bytes, {use == MemoryUse::updated ? written_before : 0, {0, 0}});
}

void GlobalMemory::begin_launch(bool blocks_wait) {
  blocks_wait_ = blocks_wait;
  for (Region& region : regions_) {
    for (Cell& cell : region.cells) cell = {cell.writer == 0 ? 0 : written_before, {0, 0}};
  }
  released_.clear();
  changed_.clear();
  log_.clear();
}

bool GlobalMemory::may_change(const void* address) {
  const Region* const region = find(address);
  return region != nullptr && region->use != MemoryUse::input;
}

GlobalMemory::Region* GlobalMemory::find(const void* address) {
  const auto* const byte = static_cast<const std::byte*>(address);
  for (Region& region : regions_) {
    if (byte >= region.begin && byte < region.end) return &region;
  }
  return nullptr;
}

std::string GlobalMemory::check_place(const Region* region, const void* address, unsigned bytes,
                                      unsigned alignment, const char* verb) const {
  const std::string what = std::string(verb) + " " + std::to_string(bytes) + " bytes of global memory ";
  const auto* const byte = static_cast<const std::byte*>(address);
  if (region != nullptr && byte + bytes > region->end) {
    return what + "at byte " + std::to_string(byte - region->begin) + " of " + region->name + ", which has " +
           std::to_string(region->end - region->begin);
  }
  if (region == nullptr) {
    std::string nearest = "where there is no operand";
    std::ptrdiff_t distance = 1 << 20;
    for (const Region& each : regions_) {
      if (byte >= each.end && byte - each.end < distance) {
        distance = byte - each.end;
        nearest = "that begin " + std::to_string(distance) + " bytes behind the end of " + each.name;
      }
      if (byte < each.begin && each.begin - byte < distance) {
        distance = each.begin - byte;
        nearest = "that begin " + std::to_string(distance) + " bytes before " + each.name;
      }
    }
    return what + nearest;
  }
  if (reinterpret_cast<std::uintptr_t>(address) % alignment != 0) {
    return what + "at byte " + std::to_string(byte - region->begin) + " of " + region->name +
           ", whose address is not a multiple of " + std::to_string(alignment);
  }
  return "";
}

bool GlobalMemory::ordered(const Accessor& by, AccessId access) const {
  if (access <= written_before) return true;
  const Access& earlier = log_[access];
  if (earlier.block == by.block) return knows(*by.clock, by.thread, earlier.thread, earlier.step);
  return knows_of_block(*by.clock, earlier.block, earlier.thread, earlier.step);
}

std::string GlobalMemory::race(const Region& region, std::size_t offset, const Accessor& by, AccessId earlier,
                               const char* verb, const Site& site) const {
  return "race: byte " + std::to_string(offset) + " of " + region.name + " was " + text_of(log_[earlier]) +
         "; " + thread_text(by.thread, by.block) + " " + verb + " it at " + text_of(site) +
         ", and nothing orders the two";
}

AccessId GlobalMemory::number(const Accessor& by, AccessKind kind, const Site& site) {
  const Step step = kind == AccessKind::bulk_flying ? never : by.clock->own;
  const auto thread = static_cast<std::uint16_t>(by.thread);
  return by.recent->number(log_, {site, by.block, step, thread, kind, thread, by.block});
}

void GlobalMemory::note_reader(Cell& cell, AccessId access, const Accessor& by) {
  for (AccessId& reader : cell.readers) {
    if (reader == access) return;
    if (reader == 0 || ordered(by, reader)) {
      reader = access;
      return;
    }
  }
  // No room: readers of different blocks are the harder to be ordered after.
  const auto block = [&](int i) { return log_[cell.readers[i]].block; };
  if (block(0) == block(1)) cell.readers[1] = access;
}

std::string GlobalMemory::read(const Accessor& by, const void* from, void* to, unsigned bytes,
                               unsigned alignment, const Site& site) {
  Region* const region = find(from);
  std::string fault = check_place(region, from, bytes, alignment, "reads");
  if (!fault.empty()) return fault;
  if (region->cells.empty()) {
    std::memcpy(to, from, bytes);
    return "";
  }
  const Lines lines(*this, from, bytes);
  std::memcpy(to, from, bytes);
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(from) - region->begin);
  const AccessId access = checks_.races ? number(by, AccessKind::read, site) : 0;
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    Cell& cell = region->cells[i];
    if (checks_.unwritten && cell.writer == 0) {
      return "reads byte " + std::to_string(i) + " of " + region->name + ", which was never written";
    }
    if (!checks_.races) continue;
    if (!ordered(by, cell.writer)) return race(*region, i, by, cell.writer, "reads", site);
    note_reader(cell, access, by);
  }
  return "";
}

std::string GlobalMemory::check_write(Region& region, std::size_t offset, unsigned bytes, const Accessor& by,
                                      AccessKind kind, const Site& site) {
  const AccessId access = number(by, kind, site);
  const char* const verb = kind == AccessKind::atomic ? "uses" : "writes";
  std::string fault;
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    Cell& cell = region.cells[i];
    if (checks_.races && fault.empty()) {
      const auto meets = [&](AccessId earlier) {
        if (kind == AccessKind::atomic && earlier > written_before &&
            log_[earlier].kind == AccessKind::atomic)
          return false;
        return !ordered(by, earlier);
      };
      for (const AccessId earlier : {cell.writer, cell.readers[0], cell.readers[1]}) {
        if (fault.empty() && meets(earlier)) fault = race(region, i, by, earlier, verb, site);
      }
    }
    cell = {access, {0, 0}};
  }
  return fault;
}

std::string GlobalMemory::write(const Accessor& by, void* to, const void* from, unsigned bytes,
                                unsigned alignment, const Site& site) {
  Region* const region = find(to);
  std::string fault = check_place(region, to, bytes, alignment, "writes");
  if (!fault.empty()) return fault;
  if (region->cells.empty()) return "writes " + region->name + ", which is an input";
  const Lines lines(*this, to, bytes);
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(to) - region->begin);
  fault = check_write(*region, offset, bytes, by, AccessKind::write, site);
  std::memcpy(to, from, bytes);
  return fault;
}

std::string GlobalMemory::begin_bulk_write(const Accessor& by, void* to, unsigned bytes, const Site& site) {
  Region* const region = find(to);
  std::string fault = check_place(region, to, bytes, 1, "writes");
  if (!fault.empty()) return fault;
  if (region->cells.empty()) return "writes " + region->name + ", which is an input";
  const Lines lines(*this, to, bytes);
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(to) - region->begin);
  return check_write(*region, offset, bytes, by, AccessKind::bulk_flying, site);
}

std::string GlobalMemory::use_counter(const Accessor& by, const void* counter, const Site& site) {
  constexpr unsigned bytes = 4;
  if (!blocks_wait_) {
    return "uses a counter that blocks share, in a launch whose blocks are said not to wait for each other";
  }
  Region* const region = find(counter);
  std::string fault = check_place(region, counter, bytes, bytes, "uses");
  if (!fault.empty()) return fault;
  if (region->cells.empty()) return "changes " + region->name + ", which is an input";
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(counter) - region->begin);
  if (checks_.unwritten) {
    for (std::size_t i = offset; i < offset + bytes; ++i) {
      if (region->cells[i].writer == 0)
        return "uses byte " + std::to_string(i) + " of " + region->name +
               " as a counter, which was never set";
    }
  }
  return check_write(*region, offset, bytes, by, AccessKind::atomic, site);
}

std::string GlobalMemory::set_counter(const Accessor& by, const void* counter, AccessId seen,
                                      const Site& site) {
  const Region* const region = find(counter);
  const AccessId last = change_of(counter);
  if (region == nullptr || !checks_.races || last == seen || ordered(by, last)) return "";
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(counter) - region->begin);
  return race(*region, offset, by, last, "sets", site);
}

void GlobalMemory::changed(const Accessor& by, const void* counter, const Site& site) {
  changed_[counter] = number(by, AccessKind::atomic, site);
}

}  // namespace quarry::emulator
