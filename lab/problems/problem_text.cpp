#include "lab/problems/problem_text.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>

#include "basic/text.hpp"
#include "basic/words.hpp"

namespace quarry::lab {
namespace {

using detail::quoted;

constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();

/// What is wrong with `text` as a part of the operand `whole`.
Status bad_part(std::string_view whole, std::string_view text) {
  constexpr std::string_view parts[] = {"row",  "col",     "column",   "row32", "col32",
                                        "ld=N", "align=N", "stride=N", "array", "shared"};
  return Status(StatusCode::parse_error, "operand " + quoted(whole) + ": expected a type such as f16, " +
                                             detail::join(parts, "or") + ", got " + quoted(text));
}

constexpr std::string_view layout_words_of_operands[] = {"row", "col", "row32", "col32"};
static_assert(std::size(layout_words_of_operands) == layout_count);

std::optional<Layout> layout_of_word(std::string_view text) {
  const auto value = detail::value_of(layout_words_of_operands, text == "column" ? "col" : text);
  if (!value) return std::nullopt;
  return static_cast<Layout>(*value);
}

Status twice(std::string_view whole, std::string_view text) {
  return Status(StatusCode::parse_error,
                "operand " + quoted(whole) + ": " + quoted(text) + " says again what was said before it");
}

Status read_alignment(std::string_view text, OperandParts& parts) {
  const Result<std::int64_t> alignment = parse_integer("align", text, 1, 1024);
  if (!alignment) return alignment.status();
  if (!std::has_single_bit(static_cast<std::uint64_t>(*alignment))) {
    return Status(StatusCode::parse_error, "align: expected a power of two, got " + quoted(text));
  }
  parts.alignment = static_cast<int>(*alignment);
  return {};
}

/// One part between two colons.
Status read_part(std::string_view whole, std::string_view text, OperandParts& parts) {
  if (const std::optional<Layout> layout = layout_of_word(text)) {
    if (parts.layout) return twice(whole, text);
    parts.layout = layout;
    return {};
  }
  if (text.starts_with("ld=")) {
    if (parts.ld != 0) return twice(whole, text);
    const Result<std::int64_t> ld = parse_integer("ld", text.substr(3), 1, greatest);
    if (ld) parts.ld = *ld;
    return ld.status();
  }
  if (text.starts_with("align=")) {
    if (parts.alignment != 0) return twice(whole, text);
    return read_alignment(text.substr(6), parts);
  }
  if (text.starts_with("stride=")) {
    if (parts.stride) return twice(whole, text);
    const Result<std::int64_t> stride = parse_integer("stride", text.substr(7), 0, greatest);
    if (stride) parts.stride = *stride;
    return stride.status();
  }
  if (text == "array" || text == "shared") {
    bool& said = text == "array" ? parts.array : parts.shared;
    if (said) return twice(whole, text);
    said = true;
    return {};
  }
  if (text.empty() || text.find('=') != text.npos) return bad_part(whole, text);
  const Result<DType> dtype = parse_dtype(text);
  if (!dtype) return dtype.status();
  if (parts.dtype) return twice(whole, text);
  parts.dtype = *dtype;
  return {};
}

}  // namespace

std::string_view layout_word(Layout layout) { return detail::word_of(layout_words_of_operands, layout); }

Result<std::vector<std::int64_t>> parse_sizes(std::string_view text, std::string_view letters,
                                              std::string_view example) {
  std::vector<std::int64_t> sizes;
  std::string_view rest = text;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const std::size_t cross = rest.find('x');
    if ((cross == rest.npos) != (i + 1 == letters.size())) {
      std::string form;
      for (const char letter : letters)
        form += form.empty() ? std::string(1, letter) : std::string("x") + letter;
      return Status(StatusCode::parse_error,
                    "shape " + quoted(text) + ": expected " + form + ", such as " + std::string(example));
    }
    const std::string what = "shape " + quoted(text) + ": size " + letters[i];
    const Result<std::int64_t> size = parse_integer(what, rest.substr(0, cross), 0, greatest);
    if (!size) return size.status();
    sizes.push_back(*size);
    rest.remove_prefix(cross == rest.npos ? rest.size() : cross + 1);
  }
  return sizes;
}

Result<OperandParts> parse_operand(std::string_view text) {
  OperandParts parts;
  std::string_view rest = text;
  for (;;) {
    const std::size_t colon = rest.find(':');
    if (Status read = read_part(text, rest.substr(0, colon), parts); !read) return read;
    if (colon == rest.npos) return parts;
    rest.remove_prefix(colon + 1);
  }
}

Result<std::int64_t> parse_integer(std::string_view what, std::string_view text, std::int64_t least,
                                   std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most)
    return value;
  std::string message = std::string(what) + ": expected a whole number from " + std::to_string(least);
  if (most != greatest || error == std::errc::result_out_of_range) message += " to " + std::to_string(most);
  return Status(StatusCode::parse_error, message + ", got " + quoted(text));
}

Result<double> parse_number(std::string_view what, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value)) return value;
  return Status(StatusCode::parse_error, std::string(what) + ": expected a number, got " + quoted(text));
}

Result<std::size_t> parse_word(std::string_view what, std::string_view text,
                               std::initializer_list<std::string_view> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words.begin()[i] == text) return i;
  }
  std::string expected;
  for (const std::string_view& word : words) {
    const bool is_last = &word + 1 == words.end();
    expected.append(expected.empty() ? "" : is_last ? " or " : ", ").append(word);
  }
  return Status(StatusCode::parse_error,
                std::string(what) + ": expected " + expected + ", got " + quoted(text));
}

Result<Clamp> parse_clamp(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos || text.size() == 1) {
    return Status(StatusCode::parse_error,
                  "clamp: expected LOW:HIGH, such as 0:6, -1: or :6, got " + quoted(text));
  }
  Clamp clamp;
  const auto read = [](std::string_view what, std::string_view part, double& bound) -> Status {
    if (part.empty()) return {};
    const Result<double> number = parse_number(what, part);
    if (number) bound = *number;
    return number.status();
  };
  if (Status s = read("low", text.substr(0, colon), clamp.low); !s) return s;
  if (Status s = read("high", text.substr(colon + 1), clamp.high); !s) return s;
  return clamp;
}

Result<Operation> parse_operation(std::string_view text) {
  if (const auto value = detail::value_of(detail::operation_words, text))
    return static_cast<Operation>(*value);
  return Status(StatusCode::parse_error, detail::unknown_word("operation", text, detail::operation_words));
}

std::string flag_text(std::string_view name, const std::string& value) {
  return " --" + std::string(name) + " " + value;
}

std::string number_text(double value) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), error == std::errc() ? end : buffer.data()};
}

}  // namespace quarry::lab
