/// The settings of a problem by name, as text: what flags and shapes files have in common.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lab/problems/problem.hpp"
#include "lab/problems/problem_text.hpp"
#include "quarry/status.hpp"

namespace quarry::lab {

/// One setting that a flag `--name` or a member of a shapes file's problem makes.
struct Setting {
  std::string_view name;
  std::string_view value;  ///< what the value is, for help
  std::string_view help;
};

/// Several lists as one, for an operation whose problems share settings with others.
template <std::size_t... n>
constexpr auto joined(const Setting (&... lists)[n]) {
  std::array<Setting, (n + ...)> all = {};
  std::size_t next = 0;
  const auto add = [&](const auto& list) {
    for (const Setting& setting : list) all[next++] = setting;
  };
  (add(lists), ...);
  return all;
}

/// Those of all operations, each once, in the order of the operations.
struct SharedSetting {
  Setting setting;
  /// The operations that have it, "gemm, conv2d"; empty where all have it.
  std::string operations;
};
std::vector<SharedSetting> all_settings();

/// Texts by the settings' names; a setting without a text has its default.
using SettingTexts = std::map<std::string, std::string, std::less<>>;

/// Reads settings, keeping the first failure, which names the flag at fault.
class SettingReader {
 public:
  /// @param settings those that the operation has
  SettingReader(const SettingTexts& texts, std::span<const Setting> settings)
      : texts_(texts), settings_(settings) {}

  /// Whether the operation has the setting.
  bool knows(std::string_view name) const {
    return std::ranges::find(settings_, name, &Setting::name) != settings_.end();
  }

  /// The setting read by `parse`, or nothing where it is not set or wrong.
  template <class Parse>
  auto read(std::string_view name, Parse parse) -> std::optional<std::decay_t<decltype(*parse(name))>> {
    const auto text = texts_.find(name);
    if (text == texts_.end() || !status_) return std::nullopt;
    auto value = parse(std::string_view(text->second));
    if (value) return *value;
    fail(name, value.status());
    return std::nullopt;
  }

  /// The setting's text, empty where it is not set.
  std::string_view text(std::string_view name) const {
    const auto text = texts_.find(name);
    return text == texts_.end() ? std::string_view() : text->second;
  }

  std::optional<double> number(std::string_view name) {
    return read(name, [](std::string_view text) { return parse_number("value", text); });
  }
  /// From `least` to `most`.
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t most, std::int64_t least = 1) {
    return read(name, [=](std::string_view text) { return parse_integer("value", text, least, most); });
  }

  /// Makes a failure of a setting known.
  void fail(std::string_view name, const Status& status) {
    if (status_) status_ = Status(status.code(), "--" + std::string(name) + ": " + status.message());
  }
  const Status& status() const { return status_; }

 private:
  const SettingTexts& texts_;
  std::span<const Setting> settings_;
  Status status_;
};

/// The problem of this shape with these settings. A failure names the flag at fault: one that the operation
/// does not have, too.
Result<Problem> parse_problem(Operation operation, std::string_view shape, const SettingTexts& texts);

}  // namespace quarry::lab
