#include "registry/tuning/digest.hpp"

namespace quarry::detail {
namespace {

constexpr std::string_view digits = "0123456789abcdef";
constexpr std::size_t word_digits = 16;

void append(std::string& text, std::uint64_t word) {
  for (int shift = 60; shift >= 0; shift -= 4) text += digits[word >> shift & 15];
}

std::optional<std::uint64_t> parse_word(std::string_view text) {
  std::uint64_t word = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == digits.npos) return std::nullopt;
    word = word << 4 | digit;
  }
  return word;
}

}  // namespace

std::string to_hexadecimal(const Digest& digest) {
  std::string text;
  append(text, digest.high);
  append(text, digest.low);
  return text;
}

std::optional<Digest> parse_digest(std::string_view text) {
  if (text.size() != 2 * word_digits) return std::nullopt;
  const auto high = parse_word(text.substr(0, word_digits));
  const auto low = parse_word(text.substr(word_digits));
  if (!high || !low) return std::nullopt;
  return Digest{*high, *low};
}

}  // namespace quarry::detail
