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
  // What both begin or end with costs nothing.
  while (!a.empty() && !b.empty() && same(a.front(), b.front())) a.remove_prefix(1), b.remove_prefix(1);
  while (!a.empty() && !b.empty() && same(a.back(), b.back())) a.remove_suffix(1), b.remove_suffix(1);
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

/// How often each letter is in a text, upper and lower case alike: texts are as far apart as these say, at
/// least.
using Letters = std::array<int, 256>;

Letters letters_of(std::string_view text) {
  Letters letters = {};
  for (const char c : text) ++letters[static_cast<unsigned char>(lower(c))];
  return letters;
}

/// No edit distance of a text to a name is less: one step adds, removes or replaces one letter.
std::size_t least_distance(Letters of_text, std::size_t length, std::string_view name) {
  std::size_t shared = 0;
  for (const char c : name) shared += of_text[static_cast<unsigned char>(lower(c))]-- > 0 ? 1 : 0;
  return std::max(length, name.size()) - shared;
}

/// A name, and how near it is at most, until its distance is known.
struct Near {
  std::size_t distance = 0;
  bool is_known = false;
  std::string_view name;
};

/// The names that may be within the limit of a text.
std::vector<Near> possible_names(std::string_view text, std::span<const std::string_view> names,
                                 std::size_t limit) {
  const Letters letters = letters_of(text);
  std::vector<Near> possible;
  for (const std::string_view name : names) {
    if (name.size() > most_length) continue;
    // A part of a name is as good as a name with one letter wrong.
    const std::size_t distance = least_distance(letters, text.size(), name);
    const bool is_longer = text.size() >= 3 && name.size() > text.size();
    const bool may_be_part = is_longer && distance == name.size() - text.size();
    if (may_be_part && contains(name, text)) {
      possible.push_back({1, true, name});
    } else if (distance <= limit) {
      possible.push_back({distance, false, name});
    }
  }
  return possible;
}

/// Settles the distances up to a limit. Returns how many names are within it.
std::size_t settle(std::string_view text, std::vector<Near>& names, std::size_t limit) {
  std::size_t count = 0;
  for (Near& near : names) {
    if (near.distance > limit) continue;
    if (!near.is_known) near.distance = edit_distance(text, near.name, limit);
    near.is_known = near.distance <= limit;
    count += near.is_known ? 1 : 0;
  }
  return count;
}

}  // namespace

std::vector<std::string_view> nearest_names(std::string_view text, std::span<const std::string_view> names) {
  if (text.empty() || text.size() > most_length) return {};
  const std::size_t most = 1 + text.size() / 4;
  std::vector<Near> possible = possible_names(text, names, most);
  // Small distances are computed much sooner than large ones, and mostly are all that is asked for.
  std::size_t limit = std::min<std::size_t>(2, most);
  while (settle(text, possible, limit) < most_names && limit < most) limit = std::min(2 * limit, most);
  std::erase_if(possible, [&](const Near& near) { return !near.is_known; });
  std::ranges::stable_sort(possible, {}, &Near::distance);
  if (!possible.empty() && possible.front().distance == 0) possible.resize(1);
  possible.resize(std::min(possible.size(), most_names));
  std::vector<std::string_view> found;
  for (const Near& near : possible) found.push_back(near.name);
  return found;
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> names) {
  const std::vector<std::string_view> nearest = nearest_names(text, names);
  return nearest.empty() ? std::string() : "; did you mean " + join(nearest, "or") + "?";
}

}  // namespace quarry::detail
