/// One problem, solved by the best kernel that can run or by a given one, checked and timed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "lab/trials/trial.hpp"
#include "quarry/registry.hpp"

namespace quarry::lab {

/// How problems are solved.
struct SolveSetting {
  Place place = Place::host;
  /// What kernels are ranked for.
  const DeviceModel& device;
  /// The kernels that may be chosen.
  Filter filter = {};
  /// This one, whatever the filter says.
  std::optional<Kernel> kernel = std::nullopt;
  /// Says what a person should know, while it runs.
  std::function<void(const std::string&)> say;
};

/// A problem that was run.
struct Solved {
  Problem problem;
  std::uint64_t seed;
  Place place;
  Candidate kernel;
  Verdict verdict;
  /// Rows of the first output that were checked, of how many.
  std::int64_t checked_rows;
  std::int64_t all_rows;
  /// Seconds of one run, absent when it failed.
  std::optional<double> seconds = std::nullopt;
};

/// Refuses operands that this machine's memory cannot hold, before any is touched.
Status check_memory(const Problem& problem);

/// Solves the problem on random operands of this seed. Fails where no kernel takes it, the one that was given
/// refuses it, memory runs out, or the device fails; a result that is wrong is no failure.
Result<Solved> solve(const Problem& problem, std::uint64_t seed, const SolveSetting& setting);

}  // namespace quarry::lab
