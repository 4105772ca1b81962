#include "basic/text.hpp"

#include <algorithm>
#include <cstdint>

namespace quarry::detail {
namespace {

/// One character of a text: its bytes, how it is shown in a line, and the columns of a terminal that it
/// takes.
struct Character {
  std::size_t bytes = 1;
  std::string_view shown;
  int columns = 1;
};

/// Columns of a code point; combining marks take none, East Asian characters and emoji two.
int columns_of(std::uint32_t code) {
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
  };
  constexpr Range none[] = {{0x300, 0x36F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};
  constexpr Range two[] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
                           {0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
  const auto holds = [code](const Range& range) { return range.first <= code && code <= range.last; };
  if (std::any_of(std::begin(none), std::end(none), holds)) return 0;
  return std::any_of(std::begin(two), std::end(two), holds) ? 2 : 1;
}

/// Bytes of the UTF-8 sequence that a byte starts; 0 when it starts none.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

/// The character at the start of a text that is not empty.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead == '\t') return {1, "\t", 1};
  if (lead < 0x20 || lead == 0x7F) return {1, "?", 1};
  const std::size_t bytes = sequence_length(lead);
  if (bytes == 0 || bytes > text.size()) return {1, "?", 1};
  std::uint32_t code = bytes == 1 ? lead : lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80) return {1, "?", 1};
    code = code << 6 | (byte & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  const bool too_long = (bytes == 3 && code < 0x800) || (bytes == 4 && (code < 0x10000 || code > 0x10FFFF));
  const bool unseen = (code >= 0x80 && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
                      (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  if (surrogate || too_long) return {1, "?", 1};
  if (unseen) return {bytes, "?", 1};
  return {bytes, text.substr(0, bytes), columns_of(code)};
}

/// Whether a byte continues a UTF-8 sequence.
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

}  // namespace

std::string quoted(std::string_view text) {
  constexpr std::size_t most = 80;
  std::string quote = "`";
  for (std::size_t at = 0; at < text.size();) {
    if (at >= most) {
      quote += "...";
      break;
    }
    const Character character = first_character(text.substr(at));
    quote += character.shown == "\t" ? " " : character.shown;
    at += character.bytes;
  }
  return quote + "`";
}

Status error_in_line(StatusCode code, std::string_view what, std::string_view text, std::size_t offset) {
  constexpr std::size_t shown = 32;
  std::string line = std::string(what) + ", at ";
  if (offset >= text.size()) return {code, line + "the end of the text"};
  std::size_t end = std::min(text.size(), offset + shown);
  while (end < text.size() && continues(text[end])) ++end;
  line += "byte " + std::to_string(offset) + ": " + quoted(text.substr(offset, end - offset));
  if (end < text.size()) line.insert(line.size() - 1, "...");
  return {code, line};
}

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = first_character(text.substr(at));
    shown += text[at] == '\n' ? "\n" : character.shown;
    at += character.bytes;
  }
  return shown;
}

std::string join(std::span<const std::string_view> names, std::string_view last) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0 && i + 1 < names.size()) list += ", ";
    if (i > 0 && i + 1 == names.size()) list.append(" ").append(last).append(" ");
    list += quoted(names[i]);
  }
  return list;
}

Status error_at(StatusCode code, std::string_view what, std::string_view text, std::size_t offset) {
  // Of a long text only what stands near the fault is shown.
  constexpr std::size_t most = 160;
  constexpr std::size_t around = 60;
  std::size_t begin = 0;
  std::size_t end = text.size();
  if (text.size() > most) {
    begin = offset > around ? offset - around : 0;
    end = std::min(text.size(), offset + around);
    for (int i = 0; i < 3 && begin > 0 && continues(text[begin]); ++i) --begin;
    for (int i = 0; i < 3 && end < text.size() && continues(text[end]); ++i) ++end;
  }
  std::string line = begin > 0 ? "..." : "";
  std::string caret = begin > 0 ? "   " : "";
  for (std::size_t at = begin; at < end;) {
    const Character character = first_character(text.substr(at, end - at));
    // A tab is repeated under itself, so that the caret lines up whatever a tab's width is.
    if (at < offset && character.shown == "\t") caret += "\t";
    if (at < offset && character.shown != "\t")
      caret.append(static_cast<std::size_t>(character.columns), ' ');
    line += character.shown;
    at += character.bytes;
  }
  if (end < text.size()) line += "...";
  return {code, std::string(what) + "\n" + line + "\n" + caret + "^"};
}

}  // namespace quarry::detail
