#include "tools/command/bench/report.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "lab/bench/chart.hpp"

namespace quarry::command {
namespace {

using nlohmann::ordered_json;

/// A column with where it comes from.
struct BenchColumn {
  Column column;
  /// Empty without the library, whose word stands in the name for `*`.
  bool yardstick;
  Cell (*cell)(const lab::BenchResult& result);
};

Cell microseconds(double seconds) { return seconds * 1e6; }

Cell percent(const lab::Spread& spread) { return spread.relative() * 100; }

const lab::Timing& best(const lab::BenchResult& r) { return r.kernels[r.best].timing; }

Cell back_to_back_us(const lab::Timing& timing) {
  return timing.back_to_back ? microseconds(timing.back_to_back->median) : Cell();
}

Cell number(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

Cell worse(const std::optional<lab::Standing>& standing) {
  return standing ? Cell(standing->worse()) : Cell();
}

Cell gaps(const std::optional<lab::Standing>& standing) { return standing ? Cell(standing->gaps) : Cell(); }

Cell back_to_back(const std::optional<lab::Standing>& standing) {
  return standing ? number(standing->back_to_back) : Cell();
}

template <class Value>
Cell of_yardstick(const lab::BenchResult& r, Value value) {
  const std::optional<lab::Timing> yardstick = r.yardstick();
  return yardstick ? value(*yardstick) : Cell();
}

template <class Value>
Cell of_first(const lab::BenchResult& r, Value value) {
  return r.first ? value(r.kernels[*r.first]) : Cell();
}

constexpr bool hidden = false;

/// In the order in which they are shown.
const std::vector<BenchColumn>& all_columns() {
  using R = const lab::BenchResult&;
  static const std::vector<BenchColumn> columns = {
      {{.name = "problem"}, false, [](R r) -> Cell { return shape_text(r.problem); }},
      {{.name = "kernel"}, false, [](R r) -> Cell { return r.kernels[r.best].name; }},
      {{.name = "controls"},
       false,
       [](R r) -> Cell { return lab::controls_text(r.kernels[r.best].controls); }},
      {{.name = "us"}, false, [](R r) { return microseconds(best(r).gaps.median); }},
      {{.name = "tflops", .decimals = 1},
       false,
       [](R r) -> Cell { return flops(r.problem) / best(r).gaps.median * 1e-12; }},
      {{.name = "gbs", .decimals = 0},
       false,
       [](R r) -> Cell { return touched_bytes(r.problem) / best(r).gaps.median * 1e-9; }},
      {{.name = "first_us"},
       false,
       [](R r) {
         return of_first(r, [](const lab::Finalist& f) { return microseconds(f.timing.gaps.median); });
       }},
      {{.name = "first_ratio", .decimals = 3}, false, [](R r) { return worse(r.first_ratio()); }},
      {{.name = "*_us"},
       true,
       [](R r) { return of_yardstick(r, [](const lab::Timing& t) { return microseconds(t.gaps.median); }); }},
      {{.name = "*_epilogue"},
       true,
       [](R r) { return r.yardstick_epilogue.empty() ? Cell() : Cell(r.yardstick_epilogue); }},
      {{.name = "ratio_gaps", .decimals = 3}, true, [](R r) { return gaps(r.ratio()); }},
      {{.name = "ratio_back_to_back", .decimals = 3}, true, [](R r) { return back_to_back(r.ratio()); }},
      {{.name = "ratio", .decimals = 3}, true, [](R r) { return worse(r.ratio()); }},
      {{.name = "spread_percent", .in_table = hidden}, false, [](R r) { return percent(best(r).gaps); }},
      {{.name = "back_to_back_us", .in_table = hidden}, false, [](R r) { return back_to_back_us(best(r)); }},
      {{.name = "predicted_us", .in_table = hidden},
       false,
       [](R r) { return microseconds(r.kernels[r.best].predicted_seconds.value_or(0)); }},
      {{.name = "first_kernel", .in_table = hidden},
       false,
       [](R r) { return of_first(r, [](const lab::Finalist& f) { return Cell(f.name); }); }},
      {{.name = "first_controls", .in_table = hidden},
       false,
       [](R r) {
         return of_first(r, [](const lab::Finalist& f) { return Cell(lab::controls_text(f.controls)); });
       }},
      {{.name = "first_back_to_back_us", .in_table = hidden},
       false,
       [](R r) { return of_first(r, [](const lab::Finalist& f) { return back_to_back_us(f.timing); }); }},
      {{.name = "first_predicted_us", .in_table = hidden},
       false,
       [](R r) {
         return of_first(
             r, [](const lab::Finalist& f) { return microseconds(f.predicted_seconds.value_or(0)); });
       }},
      {{.name = "*_back_to_back_us", .in_table = hidden},
       true,
       [](R r) { return of_yardstick(r, back_to_back_us); }},
      {{.name = "*_spread_percent", .in_table = hidden},
       true,
       [](R r) { return of_yardstick(r, [](const lab::Timing& t) { return percent(t.gaps); }); }},
      {{.name = "*_first_us", .in_table = hidden},
       true,
       [](R r) {
         return r.algorithm_first ? microseconds(r.algorithms[*r.algorithm_first].timing.gaps.median)
                                  : Cell();
       }},
      {{.name = "*_first_ratio", .in_table = hidden, .decimals = 3},
       true,
       [](R r) { return worse(r.algorithm_first_ratio()); }},
      {{.name = "*_choice", .in_table = hidden},
       true,
       [](R r) {
         const lab::Finalist* const fastest = r.fastest_algorithm();
         return fastest == nullptr || fastest->choice.empty() ? Cell()
                                                              : Cell(lab::choice_text(fastest->choice));
       }},
      {{.name = "matched", .in_table = hidden},
       false,
       [](R r) -> Cell { return static_cast<std::int64_t>(r.matched); }},
      {{.name = "timed", .in_table = hidden},
       false,
       [](R r) -> Cell { return static_cast<std::int64_t>(r.timed); }},
      {{.name = "left_out", .in_table = hidden},
       false,
       [](R r) -> Cell { return static_cast<std::int64_t>(r.wrong.size()); }},
      {{.name = "launches", .in_table = hidden}, false, [](R r) -> Cell { return std::int64_t{r.launches}; }},
      {{.name = "operand_sets", .in_table = hidden},
       false,
       [](R r) -> Cell { return static_cast<std::int64_t>(r.sets); }},
      {{.name = "seed", .in_table = hidden},
       false,
       [](R r) -> Cell { return static_cast<std::int64_t>(r.seed); }},
      {{.name = "from", .in_table = hidden},
       false,
       [](R r) { return r.problem.label.empty() ? Cell() : Cell(r.problem.label); }},
  };
  return columns;
}

/// Controls as the command's flags and listings name them, null where the kernel has none such.
void put_controls(ordered_json& object, const Controls& c) {
  object["mode"] = c.mode ? ordered_json(std::string(to_string(*c.mode))) : ordered_json();
  object["split_k"] = c.split_k_slices ? ordered_json(*c.split_k_slices) : ordered_json();
  object["swizzle"] = c.swizzle ? ordered_json(*c.swizzle) : ordered_json();
  object["raster"] = c.raster ? ordered_json(std::string(to_string(*c.raster))) : ordered_json();
  object["multiprocessors"] = c.multiprocessors ? ordered_json(*c.multiprocessors) : ordered_json();
}

/// What the prediction is made of.
void put_account(ordered_json& object, const Account& account) {
  object["limit"] = std::string(to_string(account.limit()));
  for (int i = 0; i < time_part_count; ++i) {
    const auto part = static_cast<TimePart>(i);
    object[std::string(to_string(part)) + "_us"] = account[part] * 1e6;
  }
  object["waves"] = account.waves;
  object["bytes"] = account.bytes;
  object["operations"] = account.operations;
}

ordered_json spread_json(const std::optional<lab::Spread>& spread) {
  if (!spread) return nullptr;
  return {
      {"median_us", spread->median * 1e6}, {"low_us", spread->low * 1e6}, {"high_us", spread->high * 1e6}};
}

/// A text of digits alone as a number.
ordered_json number_or_text(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? ordered_json(number) : ordered_json(text);
}

ordered_json choice_json(const std::vector<lab::ChoicePart>& choice) {
  ordered_json object = ordered_json::object();
  for (const lab::ChoicePart& part : choice) object[part.name] = number_or_text(part.value);
  return object;
}

ordered_json finalist_json(const lab::Finalist& finalist) {
  ordered_json object = {{"name", finalist.name}};
  if (finalist.predicted_seconds) {
    put_controls(object, finalist.controls);
    object["predicted_us"] = *finalist.predicted_seconds * 1e6;
  }
  object["gaps"] = spread_json(finalist.timing.gaps);
  object["back_to_back"] = spread_json(finalist.timing.back_to_back);
  if (!finalist.choice.empty()) object["choice"] = choice_json(finalist.choice);
  return object;
}

ordered_json finalists_json(const std::vector<lab::Finalist>& finalists) {
  ordered_json list = ordered_json::array();
  for (const lab::Finalist& each : finalists) list.push_back(finalist_json(each));
  return list;
}

/// Adds to `values` what is there.
void gather(std::vector<double>& values, const std::optional<double>& value) {
  if (value && *value > 0) values.push_back(*value);
}

std::optional<double> worse_of(const std::optional<lab::Standing>& standing) {
  return standing ? std::optional(standing->worse()) : std::nullopt;
}

/// The text, in which a word stands for `*`.
std::string with_word(std::string text, const char* word) {
  if (const std::size_t star = text.find('*'); star != text.npos) text.replace(star, 1, word);
  return text;
}

/// The library's word stands in the key for `*`, its name in the text.
struct MeanText {
  const char* key;
  const char* text;
  std::optional<double> BenchMeans::*value;
};

constexpr MeanText mean_texts[] = {
    {"ratio_gaps", "best kernel / *'s best, with gaps", &BenchMeans::gaps},
    {"ratio_back_to_back", "best kernel / *'s best, back to back (large problems)",
     &BenchMeans::back_to_back},
    {"ratio", "best kernel / *'s best, the worse of both", &BenchMeans::worse},
    {"first_ratio", "predicted first choice / best kernel", &BenchMeans::first},
    {"*_first_ratio", "*'s first choice / its best", &BenchMeans::algorithm_first},
};

}  // namespace

std::vector<Column> bench_columns(const lab::YardstickKind& kind, bool with_library) {
  std::vector<Column> columns;
  for (const BenchColumn& each : all_columns()) {
    columns.push_back(each.column);
    columns.back().name = with_word(each.column.name, kind.word);
    if (each.yardstick && !with_library) columns.back().in_table = false;
  }
  return columns;
}

Cell bench_cell(const lab::BenchResult& result, std::size_t column) {
  return all_columns()[column].cell(result);
}

BenchMeans bench_means(std::span<const lab::BenchResult> results) {
  std::vector<double> gaps, back_to_back, worse, first, algorithm_first;
  for (const lab::BenchResult& r : results) {
    if (const std::optional<lab::Standing> ratio = r.ratio()) {
      gather(gaps, ratio->gaps);
      gather(back_to_back, ratio->back_to_back);
      gather(worse, ratio->worse());
    }
    gather(first, worse_of(r.first_ratio()));
    gather(algorithm_first, worse_of(r.algorithm_first_ratio()));
  }
  BenchMeans means{
      lab::geometric_mean(gaps),  lab::geometric_mean(back_to_back),    lab::geometric_mean(worse),
      lab::geometric_mean(first), lab::geometric_mean(algorithm_first), std::nullopt};
  if (!worse.empty()) means.least = *std::ranges::min_element(worse);
  return means;
}

std::string means_text(const BenchMeans& means, const lab::YardstickKind& kind) {
  std::string text;
  for (const MeanText& each : mean_texts) {
    const std::optional<double>& value = means.*each.value;
    if (!value) continue;
    char line[160];
    std::snprintf(line, sizeof line, "%.3f  %s", *value, with_word(each.text, kind.name).c_str());
    text += line;
    if (each.value == &BenchMeans::worse && means.least) {
      std::snprintf(line, sizeof line, "; the lowest is %.3f", *means.least);
      text += line;
    }
    text += '\n';
  }
  return text.empty() ? text : "geometric means of speed ratios:\n" + text;
}

ordered_json means_json(const BenchMeans& means, const lab::YardstickKind& kind) {
  ordered_json object = ordered_json::object();
  for (const MeanText& each : mean_texts) {
    const std::optional<double>& value = means.*each.value;
    object[with_word(each.key, kind.word)] = value ? ordered_json(*value) : ordered_json();
  }
  object["lowest_ratio"] = means.least ? ordered_json(*means.least) : ordered_json();
  return object;
}

ordered_json finalists_json(std::span<const lab::BenchResult> results, const lab::YardstickKind& kind) {
  ordered_json list = ordered_json::array();
  for (const lab::BenchResult& r : results) {
    list.push_back({{"problem", shape_text(r.problem)},
                    {"command", command_text(r.problem)},
                    {"kernels", finalists_json(r.kernels)},
                    {kind.word, finalists_json(r.algorithms)},
                    {"left_out", r.wrong}});
  }
  return list;
}

std::string bench_svg(std::span<const lab::BenchResult> results, const std::string& device,
                      const lab::YardstickKind& kind) {
  std::vector<lab::ChartBar> bars;
  std::string types;  // of the first one that is drawn
  for (const lab::BenchResult& r : results) {
    const std::optional<lab::Standing> ratio = r.ratio();
    if (!ratio) continue;
    if (bars.empty()) types = r.types;
    bars.push_back({shape_text(r.problem), ratio->gaps, ratio->back_to_back});
  }
  return lab::svg_chart(
      {.title = with_word("Best kernel beside *'s best, ", kind.name) + types + ", " + device,
       .axis = with_word("speed ratio (above 1: faster than *)", kind.name),
       .first = "with gaps",
       .second = "back to back"},
      bars);
}

std::string times_text(const lab::BenchResult& result) {
  const lab::Problem& p = result.problem;
  std::string text;
  for (const lab::BriefTime& each : result.brief) {
    ordered_json line = {
        {"schema_version", schema_version}, {"problem", shape_text(p)}, {"command", command_text(p)}};
    for (const auto& [name, size] : sizes_of(p)) line[std::string(name)] = size;
    line["kernel"] = each.name;
    put_controls(line, each.controls);
    line["predicted_us"] = each.predicted_seconds * 1e6;
    line["measured_us"] = each.seconds * 1e6;
    put_account(line, each.account);
    text += line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  }
  return text;
}

}  // namespace quarry::command
