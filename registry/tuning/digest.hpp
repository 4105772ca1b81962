/// 128-bit digests: of problems, as keys of tuning tables, and of measurements, as their ids. They guard
/// against chance, not against intent.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace quarry::detail {

struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend constexpr auto operator<=>(const Digest&, const Digest&) = default;
};

/// The last step of splitmix64: each bit of the result depends on each bit of the word.
constexpr std::uint64_t mixed(std::uint64_t word) {
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9U;
  word = (word ^ word >> 27) * 0x94d049bb133111ebU;
  return word ^ word >> 31;
}

/// The digest of bytes. Digests of other seeds have nothing in common with it.
inline Digest digest_of(std::span<const std::byte> bytes, std::uint64_t seed = 0) {
  std::uint64_t high = 0x9e3779b97f4a7c15U ^ mixed(seed + 1);
  std::uint64_t low = 0xc2b2ae3d27d4eb4fU ^ bytes.size();
  std::uint64_t word = 0;
  const auto add = [&] {
    high = std::rotl(high ^ word * 0xd6e8feb86659fd93U, 29) * 5 + 0x52dce729;
    low = (std::rotl(low, 31) + word) * 0x9fb21c651e98df25U;
  };
  // A copy of a fixed size is one instruction.
  for (; bytes.size() >= sizeof word; bytes = bytes.subspan(sizeof word)) {
    std::memcpy(&word, bytes.data(), sizeof word);
    add();
  }
  if (!bytes.empty()) {
    word = 0;
    std::memcpy(&word, bytes.data(), bytes.size());
    add();
  }
  return {mixed(high ^ low >> 32), mixed(low + high)};
}

inline Digest digest_of(std::string_view text, std::uint64_t seed = 0) {
  return digest_of(std::as_bytes(std::span(text.data(), text.size())), seed);
}

/// The digest of two in this order.
constexpr Digest joined(const Digest& one, const Digest& other) {
  return {mixed(one.high ^ std::rotl(other.low, 17)), mixed(one.low + 3 * other.high)};
}

/// As 32 hexadecimal digits; and back, nothing for any other text.
std::string to_hexadecimal(const Digest& digest);
std::optional<Digest> parse_digest(std::string_view text);

}  // namespace quarry::detail
