/// Memory for an operand between pages that nobody can touch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quarry::emulator {

/// Which end of the memory lies exactly at an inaccessible page: the other is as near as whole pages allow.
enum class GuardedEnd : std::uint8_t { front, back };

/// Some bytes, all 0xff at first, freed with this object. Movable.
class GuardedPages {
 public:
  GuardedPages() = default;
  ~GuardedPages() { free(); }
  GuardedPages(GuardedPages&& other) noexcept { *this = static_cast<GuardedPages&&>(other); }
  GuardedPages& operator=(GuardedPages&& other) noexcept;

  /// Memory for `bytes` bytes whose address is `phase` modulo 64, as near to the guarded end as that allows.
  /// @return with data() null when memory runs out
  static GuardedPages make(std::size_t bytes, std::size_t phase, GuardedEnd end);

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void free();

  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace quarry::emulator
