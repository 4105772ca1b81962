#include "basic/ptxas_log.hpp"

#include <algorithm>
#include <charconv>

namespace quarry::detail {
namespace {

/// The number that ends where `word` begins: 40 in "Used 40 registers, ...". 0 if no number does.
int number_before(std::string_view line, std::string_view word) {
  const auto end = line.find(word);
  if (end == std::string_view::npos) return 0;
  auto begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

/// The number that a text starts with, 0 where it does not.
int leading_number(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// What stands between two texts, "" where they do not.
std::string_view between(std::string_view line, std::string_view before, std::string_view after) {
  const auto begin = line.find(before);
  if (begin == std::string_view::npos) return "";
  line.remove_prefix(begin + before.size());
  return line.substr(0, line.find(after));
}

}  // namespace

void read_ptxas_log(std::string_view log, RegisterUsages& usages) {
  RegisterUsage* current = nullptr;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    const std::string_view name = between(line, "Compiling entry function '", "'");
    if (!name.empty()) {
      const int target = leading_number(between(line, "for 'sm_", "'"));
      current = &usages[{std::string(name), target}];
    }
    if (current == nullptr) continue;
    if (const int registers = number_before(line, " registers"); registers > 0)
      current->registers = registers;
    current->spill_bytes += number_before(line, " bytes spill stores");
  }
}

}  // namespace quarry::detail
