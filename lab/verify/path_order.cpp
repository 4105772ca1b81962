#include "lab/verify/path_order.hpp"

#include <algorithm>

#include "basic/text.hpp"
#include "lab/operation.hpp"

namespace quarry::lab {

Status check_path(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OperationLab& lab : operation_labs()) {
    for (const Path& path : lab.paths) {
      if (std::ranges::find(names, path.name) == names.end()) names.push_back(path.name);
    }
  }
  if (name.empty() || std::ranges::find(names, name) != names.end()) return {};
  return {StatusCode::parse_error,
          "--path: expected " + detail::join(names, "or") + ", got " + detail::quoted(name)};
}

std::vector<std::int64_t> problem_numbers(const KernelMetadata& kernel, const ProblemChoice& choice,
                                          std::uint64_t seed) {
  const std::vector<Path>& paths = lab_of(kernel.operation).paths;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::size_t path = (seed % paths.size() + i) % paths.size();
    const bool is_chosen = choice.path.empty() || paths[path].name == choice.path;
    if (is_chosen && paths[path].is_of(kernel)) numbers.push_back(static_cast<std::int64_t>(path));
  }
  if (!choice.path.empty()) return numbers;
  const std::int64_t all = choice.count.value_or(std::ssize(numbers) + mixed_problems);
  if (all < std::ssize(numbers)) numbers.resize(static_cast<std::size_t>(all));
  for (std::int64_t mixed = std::ssize(paths); std::ssize(numbers) < all; ++mixed) numbers.push_back(mixed);
  return numbers;
}

void PathCounts::add(const KernelMetadata& kernel, std::span<const std::int64_t> numbers,
                     std::string_view only) {
  const std::vector<Path>& paths = lab_of(kernel.operation).paths;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!paths[i].is_of(kernel) || (!only.empty() && paths[i].name != only)) continue;
    PathCount& count = count_of(paths[i].name);
    ++count.kernels;
    if (std::ranges::find(numbers, static_cast<std::int64_t>(i)) != numbers.end()) ++count.met;
  }
}

PathCount& PathCounts::count_of(std::string_view name) {
  const auto found = std::ranges::find(counts_, name, &PathCount::name);
  return found != counts_.end() ? *found : counts_.emplace_back(PathCount{name});
}

std::string to_string(const PathCount& count) {
  std::string text = std::string(count.name) + " " + std::to_string(count.met);
  if (count.met < count.kernels) text += " of " + std::to_string(count.kernels);
  return text;
}

}  // namespace quarry::lab
