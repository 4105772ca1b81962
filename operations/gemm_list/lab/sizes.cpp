#include "operations/gemm_list/lab/sizes.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>

#include "basic/read_file.hpp"
#include "basic/text.hpp"
#include "operations/common/problem_words.hpp"
#include "operations/gemm_list/problem.hpp"

namespace quarry::lab::gemm_list {
namespace {

Status wrong_sizes(std::string message) { return {StatusCode::parse_error, std::move(message)}; }

/// The words of a text, between commas and blanks.
std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view between = ", \n\r\t";
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(between);
    if (begin == text.npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(between), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

/// Reads as many whole numbers as there is room for, with `mark` between them, and nothing else.
bool read_numbers(std::string_view word, char mark, std::span<std::int32_t> numbers) {
  const char* at = word.data();
  const char* const end = at + word.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && (at == end || *at++ != mark)) return false;
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc()) return false;
    at = next;
  }
  return at == end;
}

/// "COUNT*" in front of a word, or 1 without it, and what follows.
struct Counted {
  std::int32_t count;
  std::string_view rest;
};

/// Nothing where what stands in front of `*` is not a number.
std::optional<Counted> read_count(std::string_view word) {
  const std::size_t star = word.find('*');
  if (star == word.npos) return Counted{1, word};
  std::int32_t count[1];
  if (!read_numbers(word.substr(0, star), ',', count)) return std::nullopt;
  return Counted{count[0], word.substr(star + 1)};
}

Status check_count(std::int32_t count, std::size_t before) {
  if (count >= 1 && static_cast<std::int64_t>(before) + count <= detail::most_said_groups) return {};
  return wrong_sizes("expected 1 to " + std::to_string(detail::most_said_groups) + " problems");
}

/// One word of a list: how many, and of what extents.
Status read_problems(std::string_view word, std::vector<ListExtents>& list) {
  const std::optional<Counted> counted = read_count(word);
  std::int32_t extents[list_extents];
  if (!counted || !read_numbers(counted->rest, 'x', extents)) {
    return wrong_sizes("expected MxNxK or COUNT*MxNxK, whole numbers of 32 bits, found " +
                       detail::quoted(word.substr(0, 40)));
  }
  if (Status s = check_count(counted->count, list.size()); !s) return s;
  list.insert(list.end(), static_cast<std::size_t>(counted->count), {extents[0], extents[1], extents[2]});
  return {};
}

/// The text of a list, between commas: neighbours that are the same stand once, behind their number and `*`.
template <class Item, class Same, class Text>
std::string text_of_runs(const std::vector<Item>& list, const Same& is_same, const Text& text_of) {
  std::string text;
  for (std::size_t i = 0; i < list.size();) {
    std::size_t end = i + 1;
    while (end < list.size() && is_same(list[i], list[end])) ++end;
    if (i > 0) text += ",";
    if (end - i > 1) text += std::to_string(end - i) + "*";
    text += text_of(list[i]);
    i = end;
  }
  return text;
}

bool is_list(std::string_view text) {
  return text.find_first_not_of("0123456789,x*-") == text.npos && !text.empty();
}

Result<std::vector<ListExtents>> parse_problems(std::string_view text) {
  std::vector<ListExtents> list;
  for (const std::string_view word : words_of(text)) {
    if (Status s = read_problems(word, list); !s) return s;
  }
  if (list.empty())
    return wrong_sizes("expected 1 to " + std::to_string(detail::most_said_groups) + " problems");
  return list;
}

/// The lines of a matrix that leading dimensions lead over.
struct Lines {
  bool by_columns;
  std::int64_t apart;
};

Lines lines_of(const TensorView& view) {
  const bool by_columns = detail::gemm_list::is_by_columns(view);
  return {by_columns, view.strides[view.rank - (by_columns ? 1U : 2U)]};
}

}  // namespace

Result<std::vector<ListExtents>> parse_list(std::string_view text) {
  if (is_list(text)) return parse_problems(text);
  const Result<std::string> content = detail::read_file(std::string(text));
  if (!content) {
    return wrong_sizes("expected problems (64x64x64,128x32x512) or a file of such, got " +
                       detail::quoted(text) + ": " + content.status().message());
  }
  return parse_problems(*content);
}

std::string list_text(const std::vector<ListExtents>& list) {
  const auto is_same = [](const ListExtents& x, const ListExtents& y) {
    return x.m == y.m && x.n == y.n && x.k == y.k;
  };
  return text_of_runs(list, is_same, [](const ListExtents& e) {
    return std::to_string(e.m) + "x" + std::to_string(e.n) + "x" + std::to_string(e.k);
  });
}

Result<std::vector<Leading>> parse_leading(std::string_view text) {
  std::vector<Leading> all;
  for (const std::string_view word : words_of(text)) {
    const std::optional<Counted> counted = read_count(word);
    Leading leading;
    if (!counted || !read_numbers(counted->rest, ':', leading)) {
      return wrong_sizes(
          "expected A:B:C:OUT or COUNT*A:B:C:OUT for each problem, whole numbers of 32 bits, or packed; "
          "found " +
          detail::quoted(word.substr(0, 40)));
    }
    if (Status s = check_count(counted->count, all.size()); !s) return s;
    all.insert(all.end(), static_cast<std::size_t>(counted->count), leading);
  }
  return all;
}

std::string leading_text(const std::vector<Leading>& leading) {
  return text_of_runs(leading, std::equal_to<>(), [](const Leading& each) {
    std::string text;
    for (std::size_t i = 0; i < each.size(); ++i) text += (i == 0 ? "" : ":") + std::to_string(each[i]);
    return text;
  });
}

ListExtents bounds_of(const std::vector<ListExtents>& list) {
  ListExtents bounds = {};
  for (const ListExtents& e : list)
    bounds = {std::max(bounds.m, e.m), std::max(bounds.n, e.n), std::max(bounds.k, e.k)};
  return bounds;
}

std::vector<Leading> packed_leading(const Problem& p) {
  const auto line = [](const OperandSpec& spec, int rows, int columns) {
    return std::max(spec.layout == Layout::row ? columns : rows, 1);
  };
  const int unit = p.leading_alignment.value_or(1);
  const auto whole = [&](int own, const OperandSpec& spec, int rows, int columns) {
    const std::int64_t most = lines_of(view_of(spec, p.count(), rows, columns)).apart;
    const std::int64_t rounded = (std::int64_t{own} + unit - 1) / unit * unit;
    return rounded <= most ? static_cast<int>(rounded) : own;
  };
  const ListExtents& most = p.bounds;
  std::vector<Leading> all;
  for (std::size_t i = 0; i < p.sizes.size(); ++i) {
    const ListExtents own = p.own(i);
    const int columns = p.own_output(i).n;
    all.push_back({whole(line(p.a, own.m, own.k), p.a, most.m, most.k),
                   whole(line(p.b, own.k, own.n), p.b, most.k, most.n),
                   line(p.epilogue.c.value_or(p.out), own.m, columns), line(p.out, own.m, columns)});
  }
  return all;
}

int kept_alignment(const Problem& p, const GemmListArguments& args) {
  constexpr std::int64_t most = 16;
  std::int64_t kept = most;
  const auto keep = [&](const TensorView& view, int given, int rows, int columns) {
    const Lines lines = lines_of(view);
    const int line = lines.by_columns ? rows : columns;
    const int count = lines.by_columns ? columns : rows;
    if (line > 0 && count > 1) kept = std::gcd(kept, clamped_leading(given, line, lines.apart, 1));
  };
  for (std::size_t i = 0; i < p.leading.size(); ++i) {
    const ListExtents own = p.own(i);
    if (own.m == 0 || own.n == 0) continue;
    keep(args.a, p.leading[i][0], own.m, own.k);
    keep(args.b, p.leading[i][1], own.k, own.n);
  }
  return static_cast<int>(kept);
}

void draw_sizes(Problem& problem, std::int64_t count, Dice& dice) {
  const auto extent = [&](int bound) -> int {
    if (dice.one_in(8)) return 0;
    if (bound == 0 || dice.one_in(4)) return bound;
    return static_cast<int>(dice.between(1, bound));
  };
  problem.sizes.clear();
  for (std::int64_t i = 0; i < count; ++i) {
    const ListExtents& bounds = problem.bounds;
    const int m = extent(bounds.m);
    const int n = extent(bounds.n);
    problem.sizes.push_back({m, n, extent(bounds.k)});
  }
}

void spoil_sizes(Problem& problem, Dice& dice) {
  constexpr int greatest = std::numeric_limits<int>::max();
  constexpr int least = std::numeric_limits<int>::min();
  const auto spoil = [&](int& extent, int bound) {
    if (dice.one_in(2)) return;
    const int any[] = {least, -1, bound + 1, greatest};
    extent = dice.one_of(any);
  };
  for (ListExtents& each : problem.sizes) {
    if (dice.one_in(3)) continue;
    spoil(each.m, problem.bounds.m);
    spoil(each.n, problem.bounds.n);
    spoil(each.k, problem.bounds.k);
  }
}

std::span<const std::int32_t> kept_sizes(const std::vector<ListExtents>& list) {
  static std::mutex mutex;
  static std::set<std::vector<std::int32_t>> kept;
  std::vector<std::int32_t> numbers;
  for (const ListExtents& each : list) numbers.insert(numbers.end(), {each.m, each.n, each.k});
  const std::lock_guard lock(mutex);
  return *kept.insert(std::move(numbers)).first;
}

}  // namespace quarry::lab::gemm_list
