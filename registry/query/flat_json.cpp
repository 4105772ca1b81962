#include "registry/query/flat_json.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "basic/text.hpp"

namespace quarry::detail {
namespace {

constexpr std::size_t most_bytes = 4096;
constexpr std::size_t most_values = 32;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Reads from the front. Its functions are false once something was wrong; `status` says what.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  const Status& status() const { return status_; }

  /// The whole text.
  bool read_object(std::vector<JsonMember>& members) {
    if (!take('{')) return fail("expected `{`");
    if (!take('}')) {
      do {
        if (!read_member(members)) return false;
      } while (take(','));
      if (!take('}')) return fail("expected `,` or `}`");
    }
    skip_spaces();
    return at_ == text_.size() || fail("expected the end of the text behind the object");
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  /// The next character that is no blank, 0 at the end (and for a byte of 0, which stands nowhere).
  char next() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  bool fail(std::string_view what) { return fail_at(at_, what); }
  bool fail_at(std::size_t offset, std::string_view what) {
    status_ = error_in_line(StatusCode::parse_error, what, text_, offset);
    return false;
  }

  bool read_member(std::vector<JsonMember>& members) {
    if (next() != '"') return fail("expected a key in double quotes");
    JsonScalar key;
    if (!read_string(key)) return false;
    const auto same = [&](const JsonMember& other) { return other.key == key.text; };
    if (std::any_of(members.begin(), members.end(), same)) {
      return fail_at(key.offset, "key " + quoted(key.text) + " is there twice");
    }
    if (members.size() == most_values) return fail_at(key.offset, "a config has fewer keys");
    if (!take(':')) return fail("expected `:` behind the key");
    JsonMember member = {key.text, key.offset, {}};
    if (!read_value(member.value)) return false;
    members.push_back(std::move(member));
    return true;
  }

  bool read_value(JsonValue& value) {
    if (next() != '[') return read_scalar(value);
    value.kind = JsonKind::list;
    value.offset = at_++;
    if (!take(']')) {
      do {
        if (value.elements.size() == most_values) return fail("no list of a config is so long");
        if (!read_scalar(value.elements.emplace_back())) return false;
      } while (take(','));
      if (!take(']')) return fail("expected `,` or `]`");
    }
    value.text = text_.substr(value.offset, at_ - value.offset);
    return true;
  }

  bool read_scalar(JsonScalar& value) {
    const char c = next();
    if (c == '"') return read_string(value);
    if (c == '-' || is_digit(c)) return read_number(value);
    if (is_letter(c)) return read_word(value);
    if (c == '[') return fail("a list within a list is no value of a config");
    if (c == '{') return fail("an object within an object is no value of a config");
    return fail("expected a value");
  }

  /// @pre a quote is next
  bool read_string(JsonScalar& value) {
    value.kind = JsonKind::string;
    value.offset = at_++;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return fail("a control character in a string");
      if (text_[at_] == '\\') return fail("no string of a config has escapes");
    }
    if (at_ == text_.size()) return fail("expected `\"` to end the string");
    value.text = text_.substr(begin, at_++ - begin);
    return true;
  }

  /// Digits from here on; whether there were any.
  bool skip_digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > begin;
  }

  bool read_number(JsonScalar& value) {
    value.kind = JsonKind::integer;
    value.offset = at_;
    const bool negative = text_[at_] == '-';
    if (negative) ++at_;
    const std::size_t first = at_;
    if (!skip_digits()) return fail("expected a digit");
    if (text_[first] == '0' && at_ > first + 1) return fail_at(first, "a number does not start with 0");
    if (at_ < text_.size() && text_[at_] == '.') {
      value.kind = JsonKind::fraction;
      ++at_;
      if (!skip_digits()) return fail("expected a digit");
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      value.kind = JsonKind::fraction;
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!skip_digits()) return fail("expected a digit");
    }
    value.text = text_.substr(value.offset, at_ - value.offset);
    using Limits = std::numeric_limits<std::int64_t>;
    const char* const end = value.text.data() + value.text.size();
    const auto read = std::from_chars(value.text.data(), end, value.number);
    if (read.ec == std::errc::result_out_of_range) value.number = negative ? Limits::min() : Limits::max();
    return true;
  }

  bool read_word(JsonScalar& value) {
    value.kind = JsonKind::word;
    value.offset = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    value.text = text_.substr(value.offset, at_ - value.offset);
    if (value.text == "true" || value.text == "false" || value.text == "null") return true;
    return fail_at(value.offset, "expected a value: words are in double quotes");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Status status_;
};

}  // namespace

Result<std::vector<JsonMember>> read_flat_json(std::string_view text) {
  if (text.size() > most_bytes) {
    return Status(StatusCode::parse_error, "A config of " + std::to_string(text.size()) +
                                               " bytes: the longest that is read has " +
                                               std::to_string(most_bytes));
  }
  Reader reader(text);
  std::vector<JsonMember> members;
  if (!reader.read_object(members)) return reader.status();
  return members;
}

std::string_view noun_of(const JsonScalar& value) {
  switch (value.kind) {
    case JsonKind::string: return "a string";
    case JsonKind::integer: return "a number";
    case JsonKind::fraction: return "a number with a fraction or exponent";
    case JsonKind::list: return "a list";
    default: return value.text;
  }
}

}  // namespace quarry::detail
