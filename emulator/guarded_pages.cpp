#include "emulator/guarded_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace quarry::emulator {

GuardedPages& GuardedPages::operator=(GuardedPages&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void GuardedPages::free() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

GuardedPages GuardedPages::make(std::size_t bytes, std::size_t phase, GuardedEnd end) {
  constexpr std::size_t modulus = 64;
  // Wide enough that an address beside an operand is nearer to that one than to any other.
  constexpr std::size_t guard = std::size_t{1} << 20;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  // With room to shift the data to its phase.
  const std::size_t inside = (bytes + modulus + page - 1) / page * page;
  GuardedPages made;
  void* const mapping =
      mmap(nullptr, inside + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return made;
  made.mapping_ = mapping;
  made.mapped_ = inside + 2 * guard;
  auto* const begin = static_cast<std::byte*>(mapping) + guard;
  if (mprotect(begin, inside, PROT_READ | PROT_WRITE) != 0) return made;
  std::memset(begin, 0xff, inside);
  const auto residue = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % modulus; };
  std::byte* data = begin;
  if (end == GuardedEnd::front) {
    data += (phase + modulus - residue(data)) % modulus;
  } else {
    data += inside - bytes;
    data -= (residue(data) + modulus - phase % modulus) % modulus;
  }
  made.data_ = data;
  made.bytes_ = bytes;
  return made;
}

}  // namespace quarry::emulator
