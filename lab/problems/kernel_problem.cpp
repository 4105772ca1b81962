#include "lab/problems/kernel_problem.hpp"

#include "lab/operation.hpp"

namespace quarry::lab {

std::string joined_words(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

std::string take_shape(std::vector<std::string>& words) {
  std::size_t first = words.size();
  while (first > 0 && is_shape(words[first - 1])) --first;
  while (first > 1 && words[first - 1].find('_') == std::string::npos) --first;
  const std::string shape = joined_words(std::span(words).subspan(first));
  words.resize(first);
  return shape;
}

Result<Problem> problem_for(const Kernel& kernel, const std::string& shape, SettingTexts settings) {
  const Operation operation = kernel.metadata().operation;
  lab_of(operation).add_settings(kernel.metadata(), settings);
  return parse_problem(operation, shape, settings);
}

Result<Problem> example_problem_for(const Kernel& kernel, const SettingTexts& settings) {
  const LabWords words = lab_of(kernel.metadata().operation).words;
  std::string_view left = words.problem;
  std::size_t end = 0;
  for (std::size_t i = words.words_of_shape(left); i > 0; --i) end = left.find(' ', end + (end > 0 ? 1 : 0));
  Result<Problem> problem = problem_for(kernel, std::string(left.substr(0, end)), settings);
  Status status = problem.status();
  if (status) {
    const HeldArguments arguments = arguments_of(*problem);
    status = kernel.supports(arguments);
  }
  if (status) return problem;
  return Status(status.code(), std::string(kernel.name()) + ": " + status.message());
}

}  // namespace quarry::lab
