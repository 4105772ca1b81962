#include "lab/text.hpp"

#include <cmath>
#include <cstdio>

namespace quarry::lab {

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return line;
}

std::string one_ascii_line(std::string_view text) {
  std::string line = one_line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return line;
}

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += R"('\'')";  // ends the quotes, and begins others behind the one of the text
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string counted(std::size_t count, std::string_view noun) {
  const bool changes = count != 1 && noun.ends_with('y');
  const std::string_view stem = changes ? noun.substr(0, noun.size() - 1) : noun;
  return std::to_string(count).append(" ").append(stem).append(count == 1 ? "" : changes ? "ies" : "s");
}

std::string rounded(double value, int decimals) {
  char buffer[48];
  const double size = std::abs(value);
  const bool scientific = size >= 1e9 || (size > 0 && size < 0.5 * std::pow(10.0, -decimals));
  std::snprintf(buffer, sizeof buffer, scientific ? "%.*e" : "%.*f", decimals, value);
  return buffer;
}

}  // namespace quarry::lab
