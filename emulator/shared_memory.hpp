/// A block's shared memory: bytes, and what is known of each.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
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
  /// The set with this access in it, and without earlier ones of the same place: of accesses whose end says
  /// nothing of others.
  Id with(Id set, AccessId access, const AccessLog& log);
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
  /// Where it begins, for kernels: aligned to 1,024 bytes and no better, and not 0.
  static constexpr unsigned base = 1024 * 9;

  /// Makes `bytes` bytes, never written.
  void reset(unsigned bytes, MemoryChecks checks);

  /// From here on what was never written may be read: poison, as if from before the launch.
  std::string allow_unwritten(unsigned address, unsigned bytes);

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

  // Bulk copies (bulk_access.cpp): an access of its own for each, which many bytes share and which others
  // know of only when it is settled.
  AccessId add_bulk(const Access& access) { return log_.add(access); }
  const Access& bulk(AccessId id) const { return log_[id]; }
  /// From here on the access is over, as far as others know its thread's step.
  void settle(AccessId id, const Access& access) { log_.change(id, access); }
  /// Where the thread's copy may write from here on. @param id a bulk_flying access
  std::string begin_bulk_write(const Accessor& by, AccessId id, unsigned address, unsigned bytes,
                               unsigned alignment);
  /// What the thread's copy may read from here on. @param id a bulk_reading access
  std::string begin_bulk_read(const Accessor& by, AccessId id, unsigned address, unsigned bytes);

  // What reaches memory by the asynchronous proxy: bulk copies and the operands of matrix instructions
  // (async_proxy.cpp).

  /// The thread of this block whose clock is given orders what it has done before what the asynchronous proxy
  /// does behind a later release; the step ends.
  void async_proxy_fence(unsigned thread, Clock& clock);
  /// As check_ordered, and what was written by ordinary means lies behind an async_proxy_fence of its writer.
  std::string check_proxy(const Accessor& by, AccessId writer, unsigned offset, const char* verb,
                          const Site& site) const;

  /// Chunks of 16 bytes that are read together.
  struct Chunks {
    static constexpr unsigned bytes = 16;
    std::span<const unsigned> addresses;
    /// Who wrote them, each once, with the first of the bytes; found by begin_read.
    std::vector<std::pair<AccessId, unsigned>> writers;
  };
  /// From here on the access `id` of add_bulk reads the chunks by the asynchronous proxy, started by the
  /// thread.
  std::string begin_read(const Accessor& by, AccessId id, Chunks& chunks, const Site& site);
  /// Checks the same for another thread that takes part.
  std::string join_read(const Accessor& by, const Chunks& chunks, const Site& site) const;

  /// The bytes as they are. @pre they exist
  const std::byte* at(unsigned address) const { return &bytes_[address - base]; }

 private:
  bool fenced(const Accessor& by, const Access& write) const;
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
  std::vector<std::vector<Step>> fences_;  // by thread: the steps that ended with a fence
};

}  // namespace quarry::emulator
