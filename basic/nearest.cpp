#include "basic/nearest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "basic/text.hpp"

namespace quarry::detail {
namespace {

constexpr std::size_t most_names = 3;
/// Longer texts are no misspelt names; it also bounds the rows of the distance's table.
constexpr std::size_t most_length = 200;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(char a, char b) { return lower(a) == lower(b); }

/// Edit distance of `a` and `b`, or some number over `limit` as soon as it is known to exceed that. Only the
/// band of the table within `limit` of its diagonal is computed: what lies outside is over the limit. @pre
/// both at most most_length
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t over = limit + 1;
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return over;
  using Line = std::array<std::size_t, most_length + 1>;
  std::array<Line, 3> lines;
  for (std::size_t j = 0; j <= b.size(); ++j) lines[0][j] = std::min(j, over);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    Line& line = lines[i % 3];
    const Line& previous = lines[(i + 2) % 3];
    const Line& before = lines[(i + 1) % 3];
    const std::size_t first = i > limit ? i - limit : 1;
    const std::size_t last = std::min(b.size(), i + limit);
    line[first - 1] = first == 1 ? std::min(i, over) : over;
    std::size_t least = line[first - 1];
    for (std::size_t j = first; j <= last; ++j) {
      std::size_t steps = previous[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      steps = std::min({steps, previous[j] + 1, line[j - 1] + 1});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        steps = std::min(steps, before[j - 2] + 1);
      }
      line[j] = std::min(steps, over);
      least = std::min(least, line[j]);
    }
    if (last < b.size()) line[last + 1] = over;
    if (least > limit) return over;
  }
  return lines[a.size() % 3][b.size()];
}

bool contains(std::string_view name, std::string_view text) {
  return std::search(name.begin(), name.end(), text.begin(), text.end(), same) != name.end();
}

struct Near {
  std::size_t distance = 0;
  std::string_view name;
};

}  // namespace

std::vector<std::string_view> nearest_names(std::string_view text, std::span<const std::string_view> names) {
  std::vector<Near> nearest;
  if (text.empty() || text.size() > most_length) return {};
  std::size_t limit = 1 + text.size() / 4;
  for (const std::string_view name : names) {
    if (name.size() > most_length) continue;
    // A part of a name is as good as a name with one letter wrong.
    const bool part = text.size() >= 3 && name.size() > text.size() && contains(name, text);
    const std::size_t distance = part ? 1 : edit_distance(text, name, limit);
    if (distance > limit) continue;
    if (distance == 0) return {name};
    const auto later = std::find_if(nearest.begin(), nearest.end(),
                                    [&](const Near& other) { return other.distance > distance; });
    nearest.insert(later, {distance, name});
    if (nearest.size() > most_names) nearest.pop_back();
    // Only a name that is nearer than the last of three can still enter.
    if (nearest.size() == most_names) limit = std::min(limit, nearest.back().distance - 1);
  }
  std::vector<std::string_view> found;
  for (const Near& near : nearest) found.push_back(near.name);
  return found;
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> names) {
  const std::vector<std::string_view> nearest = nearest_names(text, names);
  return nearest.empty() ? std::string() : "; did you mean " + join(nearest, "or") + "?";
}

}  // namespace quarry::detail
