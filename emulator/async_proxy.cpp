/// Shared memory as the asynchronous proxy reaches it, which sees what threads wrote by ordinary means only
/// behind a fence of theirs (PTX ISA, proxies).
#include <algorithm>

#include "emulator/shared_memory.hpp"

namespace quarry::emulator {

void SharedMemory::async_proxy_fence(unsigned thread, Clock& clock) {
  if (fences_.size() <= thread) fences_.resize(thread + 1);
  fences_[thread].push_back(clock.own++);
}

/// Whether the writer has made a fence since, which the thread is ordered after. @pre it is after the write
bool SharedMemory::fenced(const Accessor& by, const Access& write) const {
  if (write.thread >= fences_.size()) return false;
  const std::vector<Step>& fences = fences_[write.thread];
  const auto fence = std::lower_bound(fences.begin(), fences.end(), write.step);
  if (fence == fences.end()) return false;
  if (write.block != by.block) return knows_of_block(*by.clock, write.block, write.thread, *fence);
  return knows(*by.clock, by.thread, write.thread, *fence);
}

std::string SharedMemory::check_proxy(const Accessor& by, AccessId writer, unsigned offset, const char* verb,
                                      const Site& site) const {
  if (writer <= written_before) return "";
  std::string fault = check_ordered(by, writer, offset, verb, site);
  const Access& write = log_[writer];
  const bool ordinary = write.kind == AccessKind::write || write.kind == AccessKind::copy;
  if (!fault.empty() || !ordinary || fenced(by, write)) return fault;
  return "race: byte " + std::to_string(offset) + " of shared memory was " + text_of(write) + "; " +
         thread_text(by.thread, by.block) + " " + verb + " it at " + text_of(site) +
         " by the asynchronous proxy, and no async_proxy_fence of the first orders the two";
}

std::string SharedMemory::begin_read(const Accessor& by, AccessId id, Chunks& chunks, const Site& site) {
  chunks.writers.clear();
  AccessId writer = 0;
  ReaderSets::Id before = ReaderSets::none;
  ReaderSets::Id after = sets_.with(before, id, log_);
  for (const unsigned address : chunks.addresses) {
    std::string fault = check_place(address, Chunks::bytes, Chunks::bytes, "reads");
    if (!fault.empty()) return fault;
    const unsigned offset = address - base;
    for (unsigned i = offset; i < offset + Chunks::bytes; ++i) {
      if (writer_[i] == writer && writer != 0) continue;
      writer = writer_[i];
      if (checks_.unwritten && writer == 0) {
        return "reads byte " + std::to_string(i) + " of shared memory, which was never written";
      }
      chunks.writers.emplace_back(writer, i);
    }
    if (!checks_.races) continue;
    for (unsigned i = offset; i < offset + Chunks::bytes; ++i) {
      if (readers_[i] != before) {
        before = readers_[i];
        after = sets_.with(before, id, log_);
      }
      readers_[i] = after;
    }
  }
  std::ranges::sort(chunks.writers);
  const auto again = std::ranges::unique(chunks.writers, {}, [](const auto& each) { return each.first; });
  chunks.writers.erase(again.begin(), again.end());
  return join_read(by, chunks, site);
}

std::string SharedMemory::join_read(const Accessor& by, const Chunks& chunks, const Site& site) const {
  if (!checks_.races) return "";
  for (const auto& [writer, offset] : chunks.writers) {
    std::string fault = check_proxy(by, writer, offset, "reads", site);
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace quarry::emulator
