#include "lab/problems/settings.hpp"

#include <algorithm>
#include <vector>

#include "lab/operation.hpp"
#include "lab/text.hpp"
#include "operations/common/operand_checks.hpp"
#include "operations/common/operand_list.hpp"

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

/// Whether the operands that are to be the output's own memory can be: they look like it.
Status check_in_place(const OperationLab& lab, const Problem& problem) {
  const std::vector<Operand> in_place = lab.in_place(problem);
  if (in_place.empty()) return {};
  const HeldArguments arguments = arguments_of(problem);
  detail::OperandList operands;
  arguments.list(operands);
  const auto* const out = std::ranges::find_if(operands, &detail::OperandRef::is_output);
  for (const Operand name : in_place) {
    const detail::OperandRef* const operand = operands.find(name);
    if (operand == nullptr || out == operands.end()) continue;
    const TensorView &one = *operand->view, &other = *out->view;
    const bool same =
        operand->may_be_out && bits_of(one.dtype) == bits_of(other.dtype) && detail::is_in_place(one, other);
    if (same) continue;
    return Status(
        StatusCode::parse_error,
        "--in-place: the input cannot be the output's memory: it needs the output's extents, strides "
        "and bits of an element");
  }
  return {};
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
  Result<Problem> problem = lab.parse(shape, texts);
  if (!problem) return problem;
  if (Status s = check_in_place(lab, *problem); !s) return s;
  return problem;
}

}  // namespace quarry::lab
