#include "lab/tune/problem_lines.hpp"

#include <algorithm>
#include <set>

#include "basic/read_file.hpp"
#include "basic/text.hpp"
#include "lab/operation.hpp"
#include "lab/problems/query.hpp"
#include "operations/common/problem_words.hpp"

namespace quarry::lab {
namespace {

/// The words between blanks. A word in single quotes may have blanks, and loses the quotes.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const bool is_quoted = line.starts_with('\'');
    if (is_quoted) line.remove_prefix(1);
    const std::string_view word = line.substr(0, line.find(is_quoted ? '\'' : ' '));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    if (is_quoted || !word.empty()) words.push_back(word);
  }
  return words;
}

/// "--split-k". The names of flags stand in messages as they are.
bool is_flag(std::string_view word) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  return word.starts_with("--") && word.find_first_not_of(letters) == word.npos;
}

Status wrong(std::string_view line) {
  return {StatusCode::parse_error, "not a problem in the words of the command line: " + detail::quoted(line)};
}

}  // namespace

Result<Problem> parse_command_text(std::string_view text) {
  if (text.size() > detail::most_line_bytes) return wrong(text);
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 2) return wrong(text);
  const Result<Operation> operation = parse_operation(words[0]);
  if (!operation) return operation.status();
  const std::size_t first_flag = 1 + lab_of(*operation).words.words_of_shape(words[1]);
  if (words.size() < first_flag) return wrong(text);
  SettingTexts settings;
  detail::QueryOptions options;
  for (std::size_t i = first_flag; i < words.size();) {
    if (words[i] == "--batch-invariant") {
      options.batch_invariant = true;
      ++i;
      continue;
    }
    if (!is_flag(words[i]) || i + 1 == words.size()) return wrong(text);
    settings[std::string(words[i].substr(2))] = words[i + 1];
    i += 2;
  }
  if (const auto limit = settings.extract("max-workspace"); !limit.empty()) {
    const Result<std::size_t> bytes = parse_bytes(limit.mapped());
    if (!bytes) return bytes.status();
    options.max_workspace = *bytes;
  }
  std::string shape(words[1]);
  for (std::size_t i = 2; i < first_flag; ++i) shape.append(" ").append(words[i]);
  Result<Problem> problem = parse_problem(*operation, shape, settings);
  if (problem) problem->options = options;
  return problem;
}

Result<ProblemLog> read_problem_log(const std::string& path) {
  const auto in_file = [&](const std::string& why) {
    return Status(StatusCode::parse_error, "problem log " + detail::quoted(path) + ": " + why);
  };
  const Result<std::string> text = detail::read_file(path, detail::most_record_bytes);
  if (!text) return in_file(text.status().message());
  ProblemLog log;
  std::set<std::string> known;
  for (std::string_view left = *text; !left.empty();) {
    std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    Result<Problem> problem = parse_command_text(line);
    if (!problem || !check_not_empty(*problem)) {
      ++log.skipped;
    } else if (known.insert(command_text(*problem)).second) {
      log.problems.push_back(*std::move(problem));
    }
  }
  if (log.problems.empty()) return in_file("there is no problem in it");
  return log;
}

}  // namespace quarry::lab
