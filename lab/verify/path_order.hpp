/// Which problems a kernel is run on, in which order; and which paths were met so.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/metadata.hpp"
#include "quarry/status.hpp"

namespace quarry::lab {

/// Mixed problems behind the paths, where nobody says how many problems there are: one of each kind of sizes.
inline constexpr std::int64_t mixed_problems = 3;

/// Which problems each kernel is run on.
struct ProblemChoice {
  /// So many; nothing: all paths and mixed_problems.
  std::optional<std::int64_t> count = std::nullopt;
  /// Where not empty, the problem of this path alone.
  std::string path = {};
};

/// Numbers of a kernel's problems (OperationLab::random): each of its paths once, in the operation's order
/// from one on that the seed chooses, so that many kernels with few problems each meet all paths; then
/// mixed ones.
std::vector<std::int64_t> problem_numbers(const KernelMetadata& kernel, const ProblemChoice& choice,
                                          std::uint64_t seed);

/// Ok for an empty name and for a path of some operation; else parse_error, with all names.
Status check_path(std::string_view name);

/// Kernels that have a path, and of these how many met it.
struct PathCount {
  std::string_view name;
  std::int64_t kernels = 0;
  std::int64_t met = 0;
};

/// "plain 54", or "plain 12 of 54" where not all that have it met it.
std::string to_string(const PathCount& count);

/// Counts paths by their names, in the order in which they come.
class PathCounts {
 public:
  /// A kernel that was run on problems of these numbers. @param only where not empty, other paths are not
  /// counted
  void add(const KernelMetadata& kernel, std::span<const std::int64_t> numbers, std::string_view only = "");

  std::span<const PathCount> all() const { return counts_; }

 private:
  PathCount& count_of(std::string_view name);

  std::vector<PathCount> counts_;
};

}  // namespace quarry::lab
