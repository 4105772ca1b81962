/// Writes JSON with indentation: enough for what the library itself writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace quarry::detail {

class JsonWriter {
 public:
  JsonWriter& begin_object(std::string_view key = {}) { return open(key, '{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array(std::string_view key = {}) { return open(key, '['); }
  JsonWriter& end_array() { return close(']'); }

  /// Members of an object; in an array, the key is "".
  JsonWriter& text(std::string_view key, std::string_view value) { return item(key, quoted(value)); }
  JsonWriter& number(std::string_view key, std::int64_t value) { return item(key, std::to_string(value)); }
  JsonWriter& boolean(std::string_view key, bool value) { return item(key, value ? "true" : "false"); }

  /// The document, with a newline at its end.
  std::string take() { return text_ + "\n"; }

 private:
  static std::string quoted(std::string_view value) {
    std::string text = "\"";
    for (const char c : value) {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto code = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        text += {'\\', c};
      } else if (code < 0x20) {
        text += {'\\', 'u', '0', '0', digits[code >> 4], digits[code & 15]};
      } else {
        text += c;
      }
    }
    return text + "\"";
  }

  JsonWriter& item(std::string_view key, std::string_view value) {
    if (!first_) text_ += ',';
    if (depth_ > 0) text_ += '\n' + std::string(2 * depth_, ' ');
    if (!key.empty()) text_ += quoted(key) + ": ";
    text_ += value;
    first_ = false;
    return *this;
  }

  JsonWriter& open(std::string_view key, char bracket) {
    item(key, std::string_view(&bracket, 1));
    ++depth_;
    first_ = true;
    return *this;
  }

  JsonWriter& close(char bracket) {
    --depth_;
    if (!first_) text_ += '\n' + std::string(2 * depth_, ' ');
    text_ += bracket;
    first_ = false;
    return *this;
  }

  std::string text_;
  std::size_t depth_ = 0;
  bool first_ = true;
};

}  // namespace quarry::detail
