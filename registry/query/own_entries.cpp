#include "registry/query/own_entries.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <utility>

namespace quarry::detail {
namespace {

/// Entries in chunks that do not move: chunk c holds first_chunk << c of them.
constexpr std::uint32_t first_chunk = 256;
constexpr std::size_t chunks = 13;
static_assert(first_chunk * ((1U << chunks) - 1) >= most_own_entries);

struct OwnEntry {
  std::string name;
  Entry entry;
  std::array<std::atomic<const void*>, most_devices> profiles = {};
};

constinit std::array<std::atomic<OwnEntry*>, chunks> all = {};
constinit std::atomic<std::uint32_t> count = 0;

struct ChunkPlace {
  std::size_t chunk;
  std::uint32_t index;
};

ChunkPlace place_of(std::uint32_t own) {
  const std::uint32_t chunk = static_cast<std::uint32_t>(std::bit_width(own / first_chunk + 1)) - 1;
  return {chunk, own - first_chunk * ((1U << chunk) - 1)};
}

/// @pre there is such an entry
OwnEntry& own_entry(std::uint32_t number) {
  const ChunkPlace place = place_of(number - static_cast<std::uint32_t>(entries().size()));
  return all[place.chunk].load(std::memory_order_acquire)[place.index];
}

}  // namespace

const Entry& entry_of(std::uint32_t number) {
  return is_in_table(number) ? entries()[number] : own_entry(number).entry;
}

std::atomic<const void*>& own_profile(std::uint32_t entry, std::size_t device) {
  return own_entry(entry).profiles[device];
}

std::optional<std::uint32_t> add_own_entry(std::string name) {
  const std::uint32_t own = count.load(std::memory_order_relaxed);
  if (own == most_own_entries) return std::nullopt;
  const ChunkPlace place = place_of(own);
  OwnEntry* chunk = all[place.chunk].load(std::memory_order_relaxed);
  if (chunk == nullptr) {
    chunk = new OwnEntry[std::size_t{first_chunk} << place.chunk];
    all[place.chunk].store(chunk, std::memory_order_release);
  }
  OwnEntry& added = chunk[place.index];
  added.name = std::move(name);
  added.entry = {added.name, -1};
  count.store(own + 1, std::memory_order_release);
  return static_cast<std::uint32_t>(entries().size()) + own;
}

}  // namespace quarry::detail
