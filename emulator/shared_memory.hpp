/// A block's shared memory: bytes, and what is known of each.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/access.hpp"

namespace quarry::emulator {

/// The thread that accesses, as memory sees it.
struct Accessor {
  unsigned block;
  unsigned thread;
  const Clock* clock;
  RecentAccesses* recent;
};

/// Sets of threads that have read a byte since it was written. Equal sets have one number, so that bytes that
/// are read together cost as much as one.
class ReaderSets {
 public:
  using Id = std::uint32_t;
  static constexpr Id none = 0;

  ReaderSets() { clear(); }
  void clear();
  /// The set with this access in it, and without those that happened before it: who is ordered after this one
  /// is ordered after those too.
  Id with(Id set, AccessId access, const AccessLog& log, const Accessor& by);
  /// The first access of the set that the thread is not ordered after; 0 where there is none.
  AccessId unordered(Id set, const AccessLog& log, const Accessor& by) const;

 private:
  struct Node {
    Id rest;
    AccessId access;
  };
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, Id> known_;
};

/// Checks of what a byte holds, each on unless told.
struct MemoryChecks {
  bool races = true;
  bool unwritten = true;
};

/// Each function answers what is wrong, "" where nothing is; the bytes are moved all the same where they
/// exist.
class SharedMemory {
 public:
  /// Where it begins, for kernels: aligned to 128 bytes and no better, and not 0.
  static constexpr unsigned base = 128 * 9;

  /// Makes `bytes` bytes, never written.
  void reset(unsigned bytes, MemoryChecks checks);

  std::string read(const Accessor& by, unsigned address, void* to, unsigned bytes, unsigned alignment,
                   const Site& site);
  std::string write(const Accessor& by, unsigned address, const void* from, unsigned bytes,
                    unsigned alignment, const Site& site);
  /// From here on an asynchronous copy may write the bytes at any time.
  std::string begin_copy(const Accessor& by, unsigned address, unsigned bytes, const Site& site);
  /// Puts the bytes of a copy in place. Until `end_copy` nobody may look at them.
  void land(unsigned address, const void* from, unsigned bytes);
  /// The thread has waited for its copy: from here on the bytes are written by it.
  void end_copy(const Accessor& by, unsigned address, unsigned bytes, const Site& site);

 private:
  std::string check_place(unsigned address, unsigned bytes, unsigned alignment, const char* verb) const;
  std::string check_ordered(const Accessor& by, AccessId access, unsigned offset, const char* verb,
                            const Site& site) const;
  std::string check_overwrite(const Accessor& by, unsigned offset, unsigned bytes, const char* verb,
                              const Site& site);

  MemoryChecks checks_;
  std::vector<std::byte> bytes_;
  std::vector<AccessId> writer_;         // by byte; 0: never written
  std::vector<ReaderSets::Id> readers_;  // by byte, since it was written
  AccessLog log_;
  ReaderSets sets_;
};

}  // namespace quarry::emulator
