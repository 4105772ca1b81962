/// Checking many kernels against float64 on random problems.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lab/progress.hpp"
#include "lab/trials/trial.hpp"
#include "lab/verify/path_order.hpp"
#include "lab/verify/record.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab {

struct VerifyOptions {
  Place place = Place::host;
  /// Random problems for each kernel.
  ProblemChoice problems = {};
  std::uint64_t seed = 0;
  /// Where not empty, is told the command that repeats each trial before it is made: by one thread at a time.
  std::function<void(const std::string&)> say = {};
  /// Where not empty, is told each kernel that passed, and on how many problems: by one thread at a time. A
  /// failure ends the verification.
  std::function<Status(const Kernel&, std::int64_t problems)> passed = {};
  /// Where not empty, is called with kernels that run next, some of them at a time: to compile them. What is
  /// known so far is kept when a verification ends before all are compiled.
  std::function<void(std::span<const Kernel>)> prepare = {};
  /// Where not empty, and once it is true, no further trial begins. Asked by any thread.
  std::function<bool()> is_stopped = {};
};

/// A kernel that was wrong.
struct WrongKernel {
  Kernel kernel;
  std::int64_t wrong_problems;
  /// Of the first wrong problem: what was wrong, and the command that does it again.
  std::string reason;
  std::string replay;
};

struct VerifyReport {
  std::int64_t right = 0;
  /// Kernels that were not run on all their problems, and not wrong on the others, because it was stopped.
  std::int64_t left = 0;
  /// Runs of all kernels together, without those that it was stopped before.
  std::int64_t problems = 0;
  /// The least and the most problems that one kernel has.
  std::int64_t least_problems = 0;
  std::int64_t most_problems = 0;
  /// Of all kernels, and of the problems that ran.
  PathCounts paths = {};
  std::vector<WrongKernel> wrong = {};
};

/// How many problems a kernel is run on.
std::int64_t problems_for(const Kernel& kernel, const VerifyOptions& options);

/// Runs each kernel on its problems. Passed kernels go into the record at once. Kernels run on all processors
/// where the place is the host. Fails when memory runs out, the record cannot be written, or the device stops
/// answering: with a message that says what was run last.
Result<VerifyReport> verify_kernels(const std::vector<Kernel>& kernels, const VerifyOptions& options,
                                    VerifyRecord& record, Progress& progress);

}  // namespace quarry::lab
