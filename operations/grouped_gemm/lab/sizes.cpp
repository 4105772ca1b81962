#include "operations/grouped_gemm/lab/sizes.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

#include "basic/read_file.hpp"
#include "basic/text.hpp"

namespace quarry::lab::grouped_gemm {
namespace {

Status wrong(std::string message) { return {StatusCode::parse_error, std::move(message)}; }

/// The lengths between the first, some cuts and the end.
std::vector<std::int32_t> between_cuts(std::int64_t tokens, std::int64_t groups, Dice& dice) {
  std::vector<std::int64_t> cuts = {tokens};
  for (std::int64_t i = 1; i < groups; ++i) cuts.push_back(dice.between(0, tokens));
  std::ranges::sort(cuts);
  std::vector<std::int32_t> counts;
  std::int64_t begin = 0;
  for (const std::int64_t end : cuts) {
    counts.push_back(static_cast<std::int32_t>(end - begin));
    begin = end;
  }
  return counts;
}

/// Shares in proportion to weights; what rounding leaves goes to the first groups.
std::vector<std::int32_t> shares(std::int64_t tokens, const std::vector<double>& weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::int32_t> counts;
  std::int64_t left = tokens;
  for (const double weight : weights) {
    counts.push_back(static_cast<std::int32_t>(static_cast<double>(tokens) * weight / all));
    left -= counts.back();
  }
  for (std::size_t i = 0; left > 0; i = (i + 1) % counts.size(), --left) ++counts[i];
  return counts;
}

/// Reads the numbers of a list. A text with anything else in it fails; the message shows where.
Result<std::vector<std::int32_t>> parse_numbers(std::string_view text) {
  std::vector<std::int32_t> sizes;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto is_between = [](char c) { return c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (true) {
    while (at != end && is_between(*at)) ++at;
    if (at == end) return sizes;
    std::int32_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || (next != end && !is_between(*next))) {
      const std::string_view rest(at, static_cast<std::size_t>(end - at));
      return wrong("expected whole numbers of 32 bits, found " +
                   detail::quoted(std::string(rest.substr(0, 20))));
    }
    sizes.push_back(size);
    at = next;
  }
}

bool is_list(std::string_view text) {
  return text.find_first_not_of("0123456789,-") == text.npos && !text.empty();
}

}  // namespace

Result<std::vector<std::int32_t>> distributed(std::string_view name, std::int64_t tokens,
                                              std::int64_t groups) {
  const auto count = static_cast<std::size_t>(groups);
  if (groups == 0) {
    const auto of_one = distributed(name, 0, 1);
    if (!of_one) return of_one.status();
    return std::vector<std::int32_t>();
  }
  if (name == "even") return shares(tokens, std::vector<double>(count, 1.0));
  if (name == "uniform") {
    Dice dice(1);
    return between_cuts(tokens, groups, dice);
  }
  if (name == "zipf") {
    std::vector<double> weights;
    for (std::size_t i = 0; i < count; ++i) weights.push_back(1.0 / static_cast<double>(i + 1));
    return shares(tokens, weights);
  }
  if (name == "one") {
    std::vector<std::int32_t> counts(count, 0);
    counts[count / 2] = static_cast<std::int32_t>(tokens);
    return counts;
  }
  return wrong("unknown distribution " + detail::quoted(std::string(name)) +
               "; expected even, uniform, zipf or one");
}

Result<std::vector<std::int32_t>> parse_size_list(std::string_view text) {
  if (is_list(text)) return parse_numbers(text);
  const Result<std::string> numbers = detail::read_file(std::string(text));
  if (!numbers)
    return wrong("expected numbers (3,0,5) or a file of such, got " + detail::quoted(text) + ": " +
                 numbers.status().message());
  return parse_numbers(*numbers);
}

std::string size_list_text(std::span<const std::int32_t> sizes) {
  std::string text;
  for (const std::int32_t size : sizes) text += (text.empty() ? "" : ",") + std::to_string(size);
  return text;
}

std::vector<std::int32_t> ends_of(std::span<const std::int32_t> counts) {
  std::vector<std::int32_t> ends(counts.size());
  std::partial_sum(counts.begin(), counts.end(), ends.begin());
  return ends;
}

void draw_sizes(Problem& problem, Dice& dice) {
  const bool is_masked = problem.form == GroupForm::masked;
  std::vector<std::int32_t> counts;
  if (is_masked) {
    for (std::int64_t i = 0; i < problem.groups; ++i) {
      const std::int64_t count = dice.one_in(4)   ? 0
                                 : dice.one_in(4) ? problem.room
                                                  : dice.between(0, problem.room);
      counts.push_back(static_cast<std::int32_t>(count));
    }
  } else {
    const std::int64_t tokens = dice.one_in(3) ? problem.room : dice.between(0, problem.room);
    counts = dice.one_in(6) ? *distributed("one", tokens, problem.groups)
                            : between_cuts(tokens, problem.groups, dice);
  }
  problem.sizes = problem.sizes_are == SizesAre::ends ? ends_of(counts) : counts;
}

void spoil_sizes(Problem& problem, Dice& dice) {
  constexpr std::int32_t greatest = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  const auto room = static_cast<std::int32_t>(problem.room);
  for (std::int32_t& size : problem.sizes) {
    if (dice.one_in(2)) continue;
    const std::int32_t any[] = {least, -1, greatest, room + 1,
                                static_cast<std::int32_t>(dice.between(0, room))};
    size = dice.one_of(any);
  }
  if (!problem.sizes.empty() && dice.one_in(2)) problem.sizes.back() = dice.one_in(2) ? least : greatest;
}

}  // namespace quarry::lab::grouped_gemm
