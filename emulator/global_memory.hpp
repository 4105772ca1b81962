/// The global memory of a launch: what its operands are, and what is known of each byte that may be written.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/access.hpp"
#include "emulator/shared_memory.hpp"

namespace quarry::emulator {

/// What a kernel may do with memory.
enum class MemoryUse : std::uint8_t {
  input,    ///< read
  output,   ///< write, and read what was written
  updated,  ///< write and read; holds values at the start
};

/// Memory that a launch may reach, and no other: operands and workspace of the host's memory, by their exact
/// bounds.
class GlobalMemory {
 public:
  explicit GlobalMemory(MemoryChecks checks = {}) : checks_(checks) {}

  /// Adds `bytes` bytes from `data` on, which messages call `name`. The memory must outlive this object's
  /// use; ranges must not overlap.
  void add(const void* data, std::size_t bytes, MemoryUse use, std::string name);

  /// Whether the launch may write there.
  bool may_change(const void* address);

  /// What earlier launches wrote is there for all threads of the next one.
  /// @param blocks_wait blocks may wait for each other, and then all run on one thread of the host
  void begin_launch(bool blocks_wait);

  /// Each answers what is wrong, "" where nothing is; bytes are moved only then.
  std::string read(const Accessor& by, const void* from, void* to, unsigned bytes, unsigned alignment,
                   const Site& site);
  std::string write(const Accessor& by, void* to, const void* from, unsigned bytes, unsigned alignment,
                    const Site& site);
  /// Of a bulk copy, which writes these bytes (up to 256) at any time from here on, and by itself: nothing
  /// orders another access of the grid after it.
  std::string begin_bulk_write(const Accessor& by, void* to, unsigned bytes, const Site& site);
  /// Of operations on a counter (4 bytes): checked as a write which other such operations may meet.
  std::string use_counter(const Accessor& by, const void* counter, const Site& site);
  /// Of a store to a counter, which must not undo a change: the thread is ordered after the last one, or it
  /// is `seen`, the one whose outcome the thread's own last operation there met.
  std::string set_counter(const Accessor& by, const void* counter, AccessId seen, const Site& site);
  /// The last change of a counter; 0 where there was none.
  AccessId change_of(const void* counter) { return changed_[counter]; }
  void changed(const Accessor& by, const void* counter, const Site& site);

  /// What the last release at a counter handed on. @pre blocks_wait
  Snapshot& released_at(const void* counter) { return released_[counter]; }
  bool blocks_wait() const { return blocks_wait_; }

 private:
  struct Cell {
    AccessId writer = 0;
    /// Two that read it since, of different blocks where there were such.
    AccessId readers[2] = {0, 0};
  };
  struct Region {
    const std::byte* begin;
    const std::byte* end;
    MemoryUse use;
    std::string name;
    std::vector<Cell> cells;  // none for an input, which nobody may write
  };

  Region* find(const void* address);
  std::string check_place(const Region* region, const void* address, unsigned bytes, unsigned alignment,
                          const char* verb) const;
  bool ordered(const Accessor& by, AccessId access) const;
  std::string race(const Region& region, std::size_t offset, const Accessor& by, AccessId earlier,
                   const char* verb, const Site& site) const;
  std::string check_write(Region& region, std::size_t offset, unsigned bytes, const Accessor& by,
                          AccessKind kind, const Site& site);
  void note_reader(Cell& cell, AccessId access, const Accessor& by);
  AccessId number(const Accessor& by, AccessKind kind, const Site& site);

  MemoryChecks checks_;
  bool blocks_wait_ = false;
  std::deque<Region> regions_;
  AccessLog log_;
  std::unordered_map<const void*, Snapshot> released_;
  std::unordered_map<const void*, AccessId> changed_;

  /// Blocks that run at the same time meet here; accesses of up to 256 bytes lie within one or two lines.
  class Lines;
  static constexpr std::size_t locks = 1024;
  std::array<std::atomic_flag, locks> locks_ = {};
};

}  // namespace quarry::emulator
