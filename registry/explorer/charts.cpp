#include "registry/explorer/charts.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "quarry/gemm.hpp"
#include "quarry/registry.hpp"
#include "registry/explorer/json_text.hpp"

namespace quarry::detail {
namespace {

constexpr std::int64_t least_extent = 16;
constexpr std::int64_t most_extent = 16384;

/// Powers of two and, between them, one and a half times the smaller.
std::vector<std::int64_t> extents() {
  std::vector<std::int64_t> all;
  for (std::int64_t extent = least_extent; extent < most_extent; extent *= 2) {
    all.push_back(extent);
    all.push_back(extent + extent / 2);
  }
  all.push_back(most_extent);
  return all;
}

DType output_of(DType type) {
  if (is_fp8(type)) return DType::bf16;
  return is_byte(type) ? DType::s32 : type;
}

GemmArguments arguments_of(const ExplorerMap& map, std::int64_t m, std::int64_t n) {
  return {.a = TensorView::row_major(nullptr, map.type, {m, map.k}),
          .b = TensorView::column_major(nullptr, map.type, {map.k, n}),
          .out = TensorView::row_major(nullptr, output_of(map.type), {m, n})};
}

/// A time in microseconds, with four digits.
std::string number(double us) {
  char text[32];
  // In any locale with a point, as JSON has it.
  const auto end =
      std::to_chars(text, text + sizeof text, std::isfinite(us) ? us : 0, std::chars_format::general, 4);
  return {text, end.ptr};
}

/// Kernels in the order in which they are met, each once.
std::size_t place_of(std::string_view name, std::vector<std::string>& names) {
  const auto known = std::ranges::find(names, name);
  if (known != names.end()) return static_cast<std::size_t>(known - names.begin());
  names.emplace_back(name);
  return names.size() - 1;
}

std::string map_json(const ExplorerMap& map) {
  std::vector<std::string> sizes;
  std::vector<std::string> names;
  std::vector<std::string> cells;
  std::vector<std::string> times;
  const std::vector<std::int64_t> all = extents();
  for (const std::int64_t m : all) {
    sizes.push_back(std::to_string(m));
    for (const std::int64_t n : all) {
      const Result<Candidate> best = find_best(arguments_of(map, m, n));
      cells.push_back(best ? std::to_string(place_of(best->name(), names)) : "-1");
      times.push_back(number(best ? best->predicted_seconds() * 1e6 : 0));
    }
  }
  for (std::string& name : names) name = page_quoted(name);
  const std::string title = "GEMM of " + std::string(to_string(map.type)) + ", K = " + std::to_string(map.k);
  return "{\"title\":" + page_quoted(title) + page_list("extents", sizes) + page_list("names", names) +
         page_list("cells", cells) + page_list("us", times) + "}";
}

/// The times of one problem.
struct ProblemTimes {
  std::string_view problem;
  std::vector<std::string> rows;
};

std::string times_json(std::span<const ExplorerTime> times) {
  std::vector<ProblemTimes> problems;
  for (const ExplorerTime& time : times) {
    // Those of a problem mostly follow each other.
    auto known = std::find_if(problems.rbegin(), problems.rend(),
                              [&](const ProblemTimes& p) { return p.problem == time.problem; });
    if (known == problems.rend()) {
      problems.push_back({time.problem, {}});
      known = problems.rbegin();
    }
    known->rows.push_back("{\"name\":" + page_quoted(time.kernel) + ",\"measured\":" +
                          number(time.measured_us) + ",\"predicted\":" + number(time.predicted_us) + "}");
  }
  std::vector<std::string> items;
  for (const ProblemTimes& p : problems)
    items.push_back("{\"title\":" + page_quoted(p.problem) + page_list("rows", p.rows) + "}");
  return page_list("times", items);
}

}  // namespace

std::string charts_json(const ExplorerCharts& charts) {
  std::vector<std::string> maps;
  for (const ExplorerMap& map : charts.maps) maps.push_back(map_json(map));
  return page_list("maps", maps) + times_json(charts.times);
}

}  // namespace quarry::detail
