#include "lab/problems/settings.hpp"

#include <algorithm>

#include "lab/operation.hpp"
#include "lab/text.hpp"

namespace quarry::lab {
namespace {

bool has(const OperationLab& lab, std::string_view name) {
  return std::ranges::find(lab.settings(), name, &Setting::name) != lab.settings().end();
}

/// The operations that have a setting.
std::vector<std::string_view> operations_with(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OperationLab& lab : operation_labs()) {
    if (has(lab, name)) names.push_back(lab.name);
  }
  return names;
}

}  // namespace

std::vector<SharedSetting> all_settings() {
  std::vector<SharedSetting> all;
  for (const OperationLab& lab : operation_labs()) {
    for (const Setting& setting : lab.settings()) {
      const auto same = [&](const SharedSetting& other) { return other.setting.name == setting.name; };
      if (std::ranges::any_of(all, same)) continue;
      const std::vector<std::string_view> operations = operations_with(setting.name);
      const bool all_have = operations.size() == operation_labs().size();
      std::string text;
      for (const std::string_view name : operations) text.append(text.empty() ? "" : ", ").append(name);
      all.push_back({setting, all_have ? std::string() : text});
    }
  }
  return all;
}

Result<Problem> parse_problem(Operation operation, std::string_view shape, const SettingTexts& texts) {
  const OperationLab& lab = lab_of(operation);
  for (const auto& [name, text] : texts) {
    if (has(lab, name)) continue;
    const std::vector<std::string_view> others = operations_with(name);
    return Status(StatusCode::parse_error, "--" + name + " does not go with " + std::string(lab.name) +
                                               (others.empty() ? "" : ", but with " + join(others, "and")));
  }
  return lab.parse(shape, texts);
}

}  // namespace quarry::lab
