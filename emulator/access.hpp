/// Accesses to memory, remembered so that a later one can be ordered after them, and reported with both
/// places.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/clock.hpp"
#include "emulator/site.hpp"

namespace quarry::emulator {

enum class AccessKind : std::uint8_t {
  read,
  write,
  atomic,        ///< one of atomic operations, which may meet each other unordered
  copy,          ///< written by an asynchronous copy that was waited for
  copy_flying,   ///< will be written by an asynchronous copy; nobody is ordered after that yet
  bulk_copy,     ///< written by a bulk copy whose end others can know of
  bulk_flying,   ///< will be written by a bulk copy; nobody is ordered after that yet
  bulk_read,     ///< read by a bulk copy that was waited for
  bulk_reading,  ///< will be read by a bulk copy; nobody is ordered after that yet
  matrix_read,   ///< read by a matrix instruction, which its `thread` stands for
  mbarrier,      ///< made an mbarrier, which other functions than its own must not touch
};

/// One access, or many by the same thread at the same place in the same step.
struct Access {
  Site site;
  std::uint32_t block = 0;
  Step step = 0;
  std::uint16_t thread = 0;
  AccessKind kind = AccessKind::read;
  /// Who started a bulk copy: its `thread` is the one whose steps count for others, which may be none that
  /// runs.
  std::uint16_t starter = 0;
  std::uint32_t starter_block = 0;
};

/// The step of an access that no thread knows to be over.
inline constexpr Step never = 0xffffffff;

/// Number of an access in its log; 0: none.
using AccessId = std::uint32_t;
/// Of what was written before the launch began.
inline constexpr AccessId written_before = 1;

/// A list of accesses that many threads of the host append to and read from: entries stay where they are.
class AccessLog {
 public:
  /// Adds an access.
  AccessId add(const Access& access);
  const Access& operator[](AccessId id) const {
    const auto i = static_cast<std::size_t>(std::bit_width(id / first_chunk));
    return chunks_[i][id - begin_of(i)];
  }
  /// Changes an access that was added, while nobody else uses the log.
  void change(AccessId id, const Access& access) {
    const auto i = static_cast<std::size_t>(std::bit_width(id / first_chunk));
    chunks_[i][id - begin_of(i)] = access;
  }
  /// Forgets all accesses except `written_before`. Not while others use the log.
  void clear() { next_ = written_before + 1; }

 private:
  // Chunk 0 holds the first numbers, and each further one as many as all before it.
  static constexpr AccessId first_chunk = 256;
  static constexpr std::size_t most_chunks = 23;
  static constexpr AccessId begin_of(std::size_t i) { return i == 0 ? 0 : first_chunk << (i - 1); }

  std::mutex mutex_;
  std::array<std::unique_ptr<Access[]>, most_chunks> chunks_;
  AccessId next_ = written_before + 1;
};

/// The numbers of a thread's recent accesses, so that each place and step is logged once.
class RecentAccesses {
 public:
  /// The number of this access, which is new or the same as before.
  AccessId number(AccessLog& log, const Access& access);
  void clear() { *this = {}; }

 private:
  struct Slot {
    std::uintptr_t site = 0;
    Step step = 0;
    AccessKind kind = AccessKind::read;
    AccessId id = 0;
  };
  static constexpr std::size_t slots = 16;
  Slot slots_[slots];
};

/// "kernels/common/operand_copy.cuh:161": the file from the source tree's root on, where it lies in one.
std::string text_of(const Site& site);

/// "thread 37 (warp 1, lane 5) of block 3"
std::string thread_text(unsigned thread, unsigned block);

/// "written by thread 37 (warp 1, lane 5) of block 3 at kernels/...:12"
std::string text_of(const Access& access);

}  // namespace quarry::emulator
