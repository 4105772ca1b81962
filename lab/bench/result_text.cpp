#include "lab/bench/result_text.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace quarry::lab {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

template <class T>
ordered_json if_there(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

/// A word, null where it is absent.
template <class T>
ordered_json word(const std::optional<T>& value) {
  return value ? ordered_json(std::string(to_string(*value))) : ordered_json();
}

ordered_json to_json(const Controls& c) {
  return {{"mode", word(c.mode)},
          {"split_k", if_there(c.split_k_slices)},
          {"swizzle", if_there(c.swizzle)},
          {"raster", word(c.raster)},
          {"multiprocessors", if_there(c.multiprocessors)}};
}

ordered_json to_json(const Spread& spread) { return {spread.median, spread.low, spread.high}; }

ordered_json to_json(const std::vector<ChoicePart>& choice) {
  ordered_json parts = ordered_json::array();
  for (const ChoicePart& part : choice) parts.push_back({part.name, part.value});
  return parts;
}

ordered_json to_json(const std::vector<Finalist>& finalists) {
  ordered_json list = ordered_json::array();
  for (const Finalist& each : finalists) {
    const std::optional<Spread>& loaded = each.timing.back_to_back;
    list.push_back({{"name", each.name},
                    {"controls", to_json(each.controls)},
                    {"predicted", if_there(each.predicted_seconds)},
                    {"gaps", to_json(each.timing.gaps)},
                    {"back_to_back", loaded ? to_json(*loaded) : ordered_json()},
                    {"choice", to_json(each.choice)}});
  }
  return list;
}

ordered_json to_json(const Account& account) {
  return {{"operations", account.operations},
          {"bytes", account.bytes},
          {"waves", account.waves},
          {"parts", account.seconds_of},
          {"seconds", account.seconds}};
}

ordered_json to_json(const std::vector<BriefTime>& times) {
  ordered_json list = ordered_json::array();
  for (const BriefTime& each : times) {
    list.push_back({{"name", each.name},
                    {"controls", to_json(each.controls)},
                    {"predicted", each.predicted_seconds},
                    {"seconds", each.seconds},
                    {"account", to_json(each.account)}});
  }
  return list;
}

// Reading: what is missing or of another type is an exception of the JSON library, which read_result catches.

template <class T>
std::optional<T> optional_of(const json& value) {
  return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

/// @param parse from a word to the value
template <class T, class Parse>
std::optional<T> word_of(const json& value, const Parse& parse, bool& is_good) {
  if (value.is_null()) return std::nullopt;
  const Result<T> parsed = parse(value.get<std::string>());
  is_good = is_good && parsed;
  return parsed ? std::optional<T>(*parsed) : std::nullopt;
}

Controls controls_of(const json& value, bool& is_good) {
  return {.mode = word_of<Mode>(value.at("mode"), parse_mode, is_good),
          .split_k_slices = optional_of<int>(value.at("split_k")),
          .swizzle = optional_of<int>(value.at("swizzle")),
          .raster = word_of<Raster>(value.at("raster"), parse_raster, is_good),
          .multiprocessors = optional_of<int>(value.at("multiprocessors"))};
}

/// Seconds: a time that the command can divide by.
double seconds_of(const json& value, bool& is_good) {
  const double seconds = value.get<double>();
  is_good = is_good && std::isfinite(seconds) && seconds > 0;
  return seconds;
}

Spread spread_of(const json& value, bool& is_good) {
  return {seconds_of(value.at(0), is_good), seconds_of(value.at(1), is_good),
          seconds_of(value.at(2), is_good)};
}

std::vector<ChoicePart> choice_of(const json& parts) {
  std::vector<ChoicePart> choice;
  for (const json& part : parts)
    choice.push_back({part.at(0).get<std::string>(), part.at(1).get<std::string>()});
  return choice;
}

std::vector<Finalist> finalists_of(const json& list, bool& is_good) {
  std::vector<Finalist> finalists;
  for (const json& each : list) {
    Finalist& finalist = finalists.emplace_back();
    finalist.name = each.at("name").get<std::string>();
    finalist.controls = controls_of(each.at("controls"), is_good);
    finalist.predicted_seconds = optional_of<double>(each.at("predicted"));
    finalist.timing.gaps = spread_of(each.at("gaps"), is_good);
    if (const json& loaded = each.at("back_to_back"); !loaded.is_null())
      finalist.timing.back_to_back = spread_of(loaded, is_good);
    if (const auto choice = each.find("choice"); choice != each.end()) finalist.choice = choice_of(*choice);
  }
  return finalists;
}

Account account_of(const json& value, bool& is_good) {
  Account account;
  account.operations = value.at("operations").get<double>();
  account.bytes = value.at("bytes").get<double>();
  account.waves = value.at("waves").get<double>();
  account.seconds = value.at("seconds").get<double>();
  const auto parts = value.at("parts").get<std::vector<double>>();
  is_good = is_good && parts.size() == time_part_count;
  if (is_good) std::ranges::copy(parts, account.seconds_of);
  return account;
}

std::vector<BriefTime> brief_of(const json& list, bool& is_good) {
  std::vector<BriefTime> times;
  for (const json& each : list) {
    times.push_back({each.at("name").get<std::string>(), controls_of(each.at("controls"), is_good),
                     each.at("predicted").get<double>(), seconds_of(each.at("seconds"), is_good),
                     account_of(each.at("account"), is_good)});
  }
  return times;
}

bool are_in_range(const BenchResult& r) {
  return r.best < r.kernels.size() && r.first.value_or(0) < r.kernels.size() &&
         (!r.algorithm_first || *r.algorithm_first < r.algorithms.size());
}

WrittenResult result_of(const json& line, bool& is_good) {
  WrittenResult written;
  written.command = line.at("command").get<std::string>();
  BenchResult& r = written.result;
  r.seed = line.at("seed").get<std::uint64_t>();
  r.matched = line.at("matched").get<std::size_t>();
  r.timed = line.at("timed").get<std::size_t>();
  r.launches = line.at("launches").get<int>();
  r.sets = line.at("sets").get<std::size_t>();
  r.kernels = finalists_of(line.at("kernels"), is_good);
  r.best = line.at("best").get<std::size_t>();
  r.first = optional_of<std::size_t>(line.at("first"));
  r.algorithms = finalists_of(line.at("algorithms"), is_good);
  r.types = line.at("types").get<std::string>();
  r.yardstick_epilogue = line.at("yardstick_epilogue").get<std::string>();
  r.algorithm_first = optional_of<std::size_t>(line.at("algorithm_first"));
  r.brief = brief_of(line.at("brief"), is_good);
  r.wrong = line.at("wrong").get<std::vector<std::string>>();
  is_good = is_good && are_in_range(r);
  return written;
}

}  // namespace

std::string result_text(const BenchResult& r) {
  const ordered_json line = {{"command", command_text(r.problem)},
                             {"seed", r.seed},
                             {"matched", r.matched},
                             {"timed", r.timed},
                             {"launches", r.launches},
                             {"sets", r.sets},
                             {"kernels", to_json(r.kernels)},
                             {"best", r.best},
                             {"first", if_there(r.first)},
                             {"algorithms", to_json(r.algorithms)},
                             {"types", r.types},
                             {"yardstick_epilogue", r.yardstick_epilogue},
                             {"algorithm_first", if_there(r.algorithm_first)},
                             {"brief", to_json(r.brief)},
                             {"wrong", r.wrong}};
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::optional<WrittenResult> read_result(std::string_view line) {
  try {
    bool is_good = true;
    WrittenResult written = result_of(json::parse(line), is_good);
    if (is_good) return written;
  } catch (const json::exception&) {
    // Not a line of result_text.
  }
  return std::nullopt;
}

}  // namespace quarry::lab
