#include "lab/tune/m_range.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "lab/problems/problem_text.hpp"
#include "lab/text.hpp"

namespace quarry::lab {
namespace {

constexpr std::int64_t most_m = std::numeric_limits<std::int32_t>::max();
/// Values with the same number of twos lie at most so far apart.
constexpr std::int64_t longest_step = std::int64_t{1} << twos_bits;

/// Values near powers of two from low to high, and near both ends, in their order, each once.
std::vector<std::int64_t> first_values(const MRange& range) {
  std::vector<std::int64_t> values;
  const auto add = [&](std::int64_t m) {
    const std::optional<std::int64_t> value = nearest_in(range, m);
    if (value && (values.empty() || *value > values.back())) values.push_back(*value);
  };
  add(range.low);
  for (std::int64_t power = 1; power < range.high; power *= 2) {
    if (power > range.low) add(power);
  }
  add(range.high);
  return values;
}

/// A value of the range near the middle, without the ends; of all values and wide intervals a multiple of 8.
/// Absent where none lies between.
std::optional<std::int64_t> middle_of(const MRange& range, std::int64_t low, std::int64_t high) {
  const std::int64_t middle = low + (high - low) / 2;
  return nearest_in({low + 1, high - 1, range.twos}, high - low > 32 ? middle / 8 * 8 : middle);
}

/// M from which the winner changes with each round of a device that tiles begin or fill, back and forth: the
/// same winner at two values says little of those between them.
constexpr std::int64_t many_rounds = 256;
/// Rows of a tile, about. Nearer values of M have mostly the same tiles.
constexpr std::int64_t tile_rows = 128;

/// Whether nothing between two neighbours is measured.
bool are_near(std::int64_t low, std::int64_t high, bool have_same_winner) {
  if (have_same_winner) return low < many_rounds || high - low <= low / 8;
  return high - low <= std::clamp<std::int64_t>(low / 16, 1, tile_rows);
}

/// The value to measure between two neighbours; absent where they are near.
std::optional<std::int64_t> between(const MRange& range, std::int64_t low, std::int64_t high,
                                    bool have_same_winner) {
  if (are_near(low, high, have_same_winner)) return std::nullopt;
  return middle_of(range, low, high);
}

}  // namespace

TwosOfM twos_of(std::int64_t m) {
  const int twos = std::countr_zero(static_cast<std::uint64_t>(m));
  return static_cast<TwosOfM>(1U << std::min(twos, twos_bits - 1));
}

Result<MRange> parse_m_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots != text.npos) {
    const Result<std::int64_t> low = parse_integer("--m", text.substr(0, dots), 1, most_m);
    const Result<std::int64_t> high = parse_integer("--m", text.substr(dots + 2), 1, most_m);
    if (low && high && *low < *high) return MRange{*low, *high};
  }
  return Status(StatusCode::parse_error, "--m takes a range such as 1..8192, not " + quoted(text));
}

std::string to_string(const MRange& range) {
  const std::string ends = std::to_string(range.low) + ".." + std::to_string(range.high);
  return range.twos == any_twos ? ends : ends + " (" + twos_text(range.twos) + ")";
}

std::string twos_text(TwosOfM twos) {
  if (twos == any_twos) return "all";
  std::string text;
  for (int bit = 0; bit < twos_bits; ++bit) {
    if ((twos >> bit & 1) == 0) continue;
    const bool has_more = twos >> bit == any_twos >> bit;
    if (!text.empty()) text += ", ";
    if (!has_more) text += bit == 0 ? "odd" : "odd ";
    if (bit > 0) text += "multiples of " + std::to_string(1 << bit);
    if (has_more) break;
  }
  return text;
}

std::optional<std::int64_t> nearest_in(const MRange& range, std::int64_t m) {
  if (range.low > range.high) return std::nullopt;
  const std::int64_t near = std::clamp(m, range.low, range.high);
  for (std::int64_t step = 0; step <= longest_step; ++step) {
    if (range.has(near + step)) return near + step;
    if (range.has(near - step)) return near - step;
  }
  return std::nullopt;
}

std::optional<Probe> next_probe(const MRange& range, const std::map<std::int64_t, std::string>& winners) {
  const std::vector<std::int64_t> first = first_values(range);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!winners.contains(first[i])) return Probe{first[i], i == 0 ? range.low - 1 : first[i - 1]};
  }
  if (winners.empty()) return std::nullopt;  // the range has no value
  for (auto low = winners.begin(), high = std::next(low); high != winners.end(); low = high++) {
    if (const auto m = between(range, low->first, high->first, low->second == high->second))
      return Probe{*m, low->first};
  }
  return std::nullopt;
}

std::vector<std::int64_t> likely_probes(const MRange& range) {
  const std::vector<std::int64_t> first = first_values(range);
  std::vector<std::int64_t> all = first;
  for (std::size_t i = 1; i < first.size(); ++i) {
    if (const auto m = between(range, first[i - 1], first[i], false)) all.push_back(*m);
  }
  return all;
}

std::size_t first_probes(const MRange& range) { return first_values(range).size(); }

}  // namespace quarry::lab
