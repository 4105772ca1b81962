#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/harness_list.hpp"
#include "lab/operation.hpp"
#include "quarry/registry.hpp"

namespace quarry::fuzz {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c != ' ') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool is_flag(const std::string& word) {
  static const std::vector<lab::SharedSetting> all = lab::all_settings();
  return std::ranges::any_of(all, [&word](const lab::SharedSetting& known) {
    return word == "--" + std::string(known.setting.name);
  });
}

/// The problem of "gemm 8x8x8 f16 --a f32:col ...", as the command reads it.
Result<lab::Problem> parse(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  if (words.size() < 2) return Status(StatusCode::parse_error, "no shape");
  const Result<Operation> operation = lab::parse_operation(words[0]);
  if (!operation) return operation.status();
  lab::SettingTexts settings;
  std::size_t next = 2;
  if (next < words.size() && !words[next].starts_with("--")) settings["type"] = words[next++];
  for (; next + 1 < words.size(); next += 2) {
    // The command knows its flags.
    if (!is_flag(words[next])) return Status(StatusCode::parse_error, "no flag");
    settings[words[next].substr(2)] = words[next + 1];
  }
  return lab::parse_problem(*operation, words[1], settings);
}

}  // namespace

void problem_texts(Bytes input) {
  const Result<lab::Problem> problem = parse(text_of(input));
  check_message(problem.status());
  if (!problem) return;
  const std::string text = command_text(*problem);
  const Result<lab::Problem> again = parse(text);
  require(static_cast<bool>(again),
          "a problem's text can be read: " + text + ": " + again.status().message());
  require(command_text(*again) == text, "a problem's text gives it back: " + text);
  require(!shape_text(*problem).empty(), "a problem has a shape");
  (void)sizes_of(*problem);
  (void)speed_text(*problem, 1e-3);
  (void)touched_bytes(*problem);
  (void)memory_bytes(*problem, 3);
  check_message(check_not_empty(*problem));
  (void)operand_options(*problem, 1);
  check_message(find_best(arguments_of(*problem)).status());
}

}  // namespace quarry::fuzz
