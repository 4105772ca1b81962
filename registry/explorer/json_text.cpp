#include "registry/explorer/json_text.hpp"

namespace quarry::detail {

std::string page_quoted(std::string_view text) {
  static constexpr std::string_view hex = "0123456789abcdef";
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || c == '"' || c == '\\' || c == '<') {
      json += "\\u00";
      json += hex[byte >> 4];
      json += hex[byte & 15];
    } else {
      json += c;
    }
  }
  return json + '"';
}

std::string page_list(std::string_view key, const std::vector<std::string>& items) {
  std::string json = ",\"" + std::string(key) + "\":[";
  for (const std::string& item : items) json += (&item == items.data() ? "" : ",") + item;
  return json + "]";
}

}  // namespace quarry::detail
