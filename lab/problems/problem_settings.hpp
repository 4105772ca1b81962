/// The settings of a problem by name, as text: what flags and shapes files have in common.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

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

/// All of them.
std::span<const Setting> problem_settings();

/// Texts by the settings' names; what is not there has its default.
using SettingTexts = std::map<std::string, std::string, std::less<>>;

/// The problem of this shape with these settings. A failure names the flag at fault.
Result<Problem> make_problem(const Shape& shape, const SettingTexts& texts,
                             Operation operation = Operation::gemm);

}  // namespace quarry::lab
