#include "settings.hpp"

#include <algorithm>
#include <functional>

namespace quarry {

std::string literal_of(std::vector<LiteralPart> parts) {
  std::ranges::sort(parts, std::ranges::less(), &LiteralPart::place);
  while (!parts.empty() && parts.back().whole && parts.back().unsaid) parts.pop_back();
  std::string text = "{";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LiteralPart& part = parts[i];
    const bool first = i == 0 || parts[i - 1].member != part.member;
    const bool last = i + 1 == parts.size() || parts[i + 1].member != part.member;
    if (i > 0) text += ", ";
    if (!part.whole && first) text += '{';
    text += part.text;
    if (!part.whole && last) text += '}';
  }
  return text + "}";
}

}  // namespace quarry
