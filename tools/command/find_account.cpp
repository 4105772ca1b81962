#include "tools/command/find_account.hpp"

#include <algorithm>
#include <cstdio>

#include "lab/problems/query.hpp"
#include "lab/text.hpp"
#include "tools/command/common/table_text.hpp"

namespace quarry::command {
namespace {

/// What each line is called; the parts that have other names for people than for programs.
std::string part_text(TimePart part) {
  switch (part) {
    case TimePart::launch: return "launch floor";
    case TimePart::memory: return "device memory";
    case TimePart::latency: return "waiting for copies";
    case TimePart::ends: return "ends of tiles";
    case TimePart::exchange: return "exchange of sums";
    default: return std::string(to_string(part));
  }
}

std::string number_text(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::vector<Account> accounts_of(std::span<const Candidate> candidates, const lab::Problem& problem,
                                 const FindOptions& options) {
  std::vector<Account> accounts;
  const FindOptions own = find_options(problem, options);
  const lab::HeldArguments arguments = arguments_of(asked_problem(problem, own));
  for (const Candidate& candidate : candidates.first(std::min(candidates.size(), compared_candidates))) {
    if (const Result<Account> account = account_of(candidate, arguments, own)) accounts.push_back(*account);
  }
  return accounts;
}

/// A line of the table. @param text of an account
template <class Text>
std::vector<TableCell> line_of(const std::string& name, const std::vector<Account>& accounts,
                               const Text& text) {
  std::vector<TableCell> line = {{name}};
  for (const Account& account : accounts) line.push_back({text(account), true});
  return line;
}

/// A line about a device whose own times were not measured; "" of another one.
std::string calibration_text(const DeviceModel& device) {
  const CalibrationSource source = calibration_source(device);
  if (source.is_own || source.device.empty()) return "";
  const std::string name = device.name;
  const std::string factors = "its factors were fitted to times of an " + std::string(source.device) + "\n";
  if (source.is_same_architecture) return name + " has no calibration of its own: " + factors;
  return name + " was not measured: its rates follow from data sheets, and " + factors;
}

std::string microseconds(double seconds) { return lab::rounded(seconds * 1e6, 2); }

}  // namespace

std::string account_text(std::span<const Candidate> candidates, const lab::Problem& problem,
                         const FindOptions& options) {
  const std::vector<Account> accounts = accounts_of(candidates, problem, options);
  if (accounts.empty()) return "";
  std::string text =
      "predicted for " + shape_text(problem) + ", in us; parts overlap, the longest is the limit:\n";
  for (std::size_t i = 0; i < accounts.size(); ++i)
    text += "  " + std::to_string(i + 1) + "  " + std::string(candidates[i].name()) + "\n";
  std::vector<std::vector<TableCell>> lines(1);
  lines[0].push_back({""});
  for (std::size_t i = 0; i < accounts.size(); ++i) lines[0].push_back({std::to_string(i + 1), true});
  lines.push_back(line_of("predicted", accounts, [](const Account& a) { return microseconds(a.seconds); }));
  lines.push_back(
      line_of("limit", accounts, [](const Account& a) { return std::string(to_string(a.limit())); }));
  for (int i = 0; i < time_part_count; ++i) {
    const auto part = static_cast<TimePart>(i);
    if (std::ranges::all_of(accounts, [part](const Account& a) { return a[part] == 0; })) continue;
    lines.push_back(
        line_of(part_text(part), accounts, [part](const Account& a) { return microseconds(a[part]); }));
  }
  lines.push_back(line_of("waves", accounts, [](const Account& a) { return lab::rounded(a.waves, 2); }));
  lines.push_back(
      line_of("MB", accounts, [](const Account& a) { return number_text("%.3f", a.bytes * 1e-6); }));
  lines.push_back(
      line_of("Gop", accounts, [](const Account& a) { return number_text("%.3f", a.operations * 1e-9); }));
  text += calibration_text(*options.device);
  return text + table_text(lines, std::vector<TableColumn>(accounts.size() + 1), 0).text;
}

nlohmann::ordered_json account_json(std::span<const Candidate> candidates, const lab::Problem& problem,
                                    const FindOptions& options) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const std::vector<Account> accounts = accounts_of(candidates, problem, options);
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const Account& account = accounts[i];
    nlohmann::ordered_json& object = list.emplace_back();
    object = {{"name", std::string(candidates[i].name())},
              {"predicted_us", account.seconds * 1e6},
              {"limit", std::string(to_string(account.limit()))}};
    for (int part = 0; part < time_part_count; ++part) {
      const auto which = static_cast<TimePart>(part);
      object[std::string(to_string(which)) + "_us"] = account[which] * 1e6;
    }
    object["waves"] = account.waves;
    object["bytes"] = account.bytes;
    object["operations"] = account.operations;
  }
  return list;
}

}  // namespace quarry::command
