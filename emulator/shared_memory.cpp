#include "emulator/shared_memory.hpp"

#include <algorithm>

namespace quarry::emulator {
namespace {

/// What bytes hold before they are written: a NaN of every type.
constexpr std::byte poison{0xff};

bool ordered(const AccessLog& log, AccessId access, const Accessor& by) {
  const Access& earlier = log[access];
  if (earlier.block != by.block)
    return knows_of_block(*by.clock, earlier.block, earlier.thread, earlier.step);
  return knows(*by.clock, by.thread, earlier.thread, earlier.step);
}

}  // namespace

void ReaderSets::clear() {
  nodes_.assign(1, {none, 0});
  known_.clear();
}

ReaderSets::Id ReaderSets::with(Id set, AccessId access, const AccessLog& log, const Accessor& by) {
  if (nodes_[set].access == access) return set;
  const auto [found, is_new] = known_.try_emplace(static_cast<std::uint64_t>(set) << 32 | access, none);
  if (!is_new) return found->second;
  bool dropped = false;
  for (Id i = set; i != none; i = nodes_[i].rest) {
    if (nodes_[i].access == access) return found->second = set;
    dropped = dropped || ordered(log, nodes_[i].access, by);
  }
  Id rest = set;
  if (dropped) {
    rest = none;
    for (Id i = set; i != none; i = nodes_[i].rest) {
      if (ordered(log, nodes_[i].access, by)) continue;
      nodes_.push_back({rest, nodes_[i].access});
      rest = static_cast<Id>(nodes_.size() - 1);
    }
  }
  nodes_.push_back({rest, access});
  return found->second = static_cast<Id>(nodes_.size() - 1);
}

ReaderSets::Id ReaderSets::with(Id set, AccessId access, const AccessLog& log) {
  if (nodes_[set].access == access) return set;
  const auto [found, is_new] = known_.try_emplace(static_cast<std::uint64_t>(set) << 32 | access, none);
  if (!is_new) return found->second;
  const Access& added = log[access];
  Id rest = none;
  for (Id i = set; i != none; i = nodes_[i].rest) {
    const Access& earlier = log[nodes_[i].access];
    const bool same_place = earlier.block == added.block && earlier.thread == added.thread;
    if (same_place && earlier.step <= added.step) continue;
    nodes_.push_back({rest, nodes_[i].access});
    rest = static_cast<Id>(nodes_.size() - 1);
  }
  nodes_.push_back({rest, access});
  return found->second = static_cast<Id>(nodes_.size() - 1);
}

AccessId ReaderSets::unordered(Id set, const AccessLog& log, const Accessor& by) const {
  for (Id i = set; i != none; i = nodes_[i].rest) {
    if (!ordered(log, nodes_[i].access, by)) return nodes_[i].access;
  }
  return 0;
}

void SharedMemory::reset(unsigned bytes, MemoryChecks checks) {
  checks_ = checks;
  bytes_.assign(bytes, poison);
  writer_.assign(bytes, 0);
  readers_.assign(bytes, ReaderSets::none);
  log_.clear();
  sets_.clear();
  for (std::vector<Step>& fences : fences_) fences.clear();
}

std::string SharedMemory::check_place(unsigned address, unsigned bytes, unsigned alignment,
                                      const char* verb) const {
  const std::uint64_t end = std::uint64_t{address} + bytes;
  if (address < base || end > base + bytes_.size()) {
    return std::string(verb) + " " + std::to_string(bytes) + " bytes at byte " +
           std::to_string(static_cast<std::int64_t>(address) - base) +
           " of shared memory, of which the launch has " + std::to_string(bytes_.size());
  }
  if (address % alignment != 0) {
    return std::string(verb) + " shared memory at byte " + std::to_string(address - base) +
           ", which is not a multiple of " + std::to_string(alignment);
  }
  return "";
}

std::string SharedMemory::check_ordered(const Accessor& by, AccessId access, unsigned offset,
                                        const char* verb, const Site& site) const {
  if (access <= written_before || ordered(log_, access, by)) return "";
  const Access& earlier = log_[access];
  return "race: byte " + std::to_string(offset) + " of shared memory was " + text_of(earlier) + "; " +
         thread_text(by.thread, by.block) + " " + verb + " it at " + text_of(site) +
         ", and nothing orders the two";
}

std::string SharedMemory::check_overwrite(const Accessor& by, unsigned offset, unsigned bytes,
                                          const char* verb, const Site& site) {
  if (!checks_.races) return "";
  AccessId writer = 0;
  ReaderSets::Id readers = ReaderSets::none;
  for (unsigned i = offset; i < offset + bytes; ++i) {
    if (writer_[i] != writer) {
      writer = writer_[i];
      std::string fault = check_ordered(by, writer, i, verb, site);
      if (!fault.empty()) return fault;
    }
    if (readers_[i] != readers) {
      readers = readers_[i];
      std::string fault = check_ordered(by, sets_.unordered(readers, log_, by), i, verb, site);
      if (!fault.empty()) return fault;
    }
  }
  return "";
}

std::string SharedMemory::allow_unwritten(unsigned address, unsigned bytes) {
  std::string fault = check_place(address, bytes, 1, "reads");
  if (!fault.empty()) return fault;
  const auto first = writer_.begin() + (address - base);
  std::replace(first, first + bytes, AccessId{0}, written_before);
  return "";
}

std::string SharedMemory::read(const Accessor& by, unsigned address, void* to, unsigned bytes,
                               unsigned alignment, const Site& site) {
  std::string fault = check_place(address, bytes, alignment, "reads");
  if (!fault.empty()) return fault;
  const unsigned offset = address - base;
  std::memcpy(to, &bytes_[offset], bytes);
  AccessId writer = 0;
  ReaderSets::Id before = ReaderSets::none;
  ReaderSets::Id after = ReaderSets::none;
  AccessId access = 0;
  for (unsigned i = offset; i < offset + bytes; ++i) {
    if (checks_.unwritten && writer_[i] == 0) {
      return "reads byte " + std::to_string(i) + " of shared memory, which was never written";
    }
    if (!checks_.races) continue;
    if (writer_[i] != writer) {
      writer = writer_[i];
      fault = check_ordered(by, writer, i, "reads", site);
      if (!fault.empty()) return fault;
    }
    if (access == 0) {
      access = by.recent->number(
          log_, {site, by.block, by.clock->own, static_cast<std::uint16_t>(by.thread), AccessKind::read});
      before = readers_[i];
      after = sets_.with(before, access, log_, by);
    } else if (readers_[i] != before) {
      before = readers_[i];
      after = sets_.with(before, access, log_, by);
    }
    readers_[i] = after;
  }
  return "";
}

std::string SharedMemory::write(const Accessor& by, unsigned address, const void* from, unsigned bytes,
                                unsigned alignment, const Site& site) {
  std::string fault = check_place(address, bytes, alignment, "writes");
  if (!fault.empty()) return fault;
  const unsigned offset = address - base;
  fault = check_overwrite(by, offset, bytes, "writes", site);
  const AccessId access = by.recent->number(
      log_, {site, by.block, by.clock->own, static_cast<std::uint16_t>(by.thread), AccessKind::write});
  std::memcpy(&bytes_[offset], from, bytes);
  std::fill_n(writer_.begin() + offset, bytes, access);
  std::fill_n(readers_.begin() + offset, bytes, ReaderSets::none);
  return fault;
}

std::string SharedMemory::begin_copy(const Accessor& by, unsigned address, unsigned bytes, const Site& site) {
  std::string fault = check_place(address, bytes, bytes, "copies to");
  if (!fault.empty()) return fault;
  const unsigned offset = address - base;
  fault = check_overwrite(by, offset, bytes, "copies to", site);
  const AccessId access = by.recent->number(
      log_, {site, by.block, never, static_cast<std::uint16_t>(by.thread), AccessKind::copy_flying});
  std::fill_n(bytes_.begin() + offset, bytes, poison);
  std::fill_n(writer_.begin() + offset, bytes, access);
  std::fill_n(readers_.begin() + offset, bytes, ReaderSets::none);
  return fault;
}

void SharedMemory::land(unsigned address, const void* from, unsigned bytes) {
  std::memcpy(&bytes_[address - base], from, bytes);
}

void SharedMemory::end_copy(const Accessor& by, unsigned address, unsigned bytes, const Site& site) {
  const AccessId access = by.recent->number(
      log_, {site, by.block, by.clock->own, static_cast<std::uint16_t>(by.thread), AccessKind::copy});
  std::fill_n(writer_.begin() + (address - base), bytes, access);
}

}  // namespace quarry::emulator
