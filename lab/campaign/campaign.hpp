/// Random problems, each given to several kernels: those that take it must be right, those that refuse it
/// must say why.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lab/progress.hpp"
#include "lab/trials/trial.hpp"
#include "quarry/registry.hpp"

namespace quarry::lab {

struct CampaignOptions {
  Place place = Place::host;
  std::int64_t problems = 0;
  /// Problem number i is drawn with seed + i, so that one of them can be repeated by itself; 0 follows
  /// most_seed.
  std::uint64_t seed = 0;
  /// The kernels that take part.
  Filter filter = {};
  /// The filter as text, for the commands that repeat a problem.
  std::string where = {};
  /// Where not empty, is told the command that repeats each problem, and the problem, before it is run: by
  /// one thread at a time.
  std::function<void(const std::string&)> say = {};
  /// Where not empty, and once it is true, no further problem begins. Asked by any thread.
  std::function<bool()> is_stopped = {};
};

/// A result or a refusal that was wrong.
struct WrongAnswer {
  std::uint64_t seed;
  /// Empty where the answer to a query was wrong.
  std::string kernel;
  std::string problem;
  std::string reason;
  /// The command that does it again.
  std::string replay;
};

struct CampaignReport {
  /// Problems that had not begun when the campaign was stopped.
  std::int64_t left = 0;
  /// Results compared with float64, those that were right.
  std::int64_t right = 0;
  /// Kernels that refused a problem and named a true cause.
  std::int64_t refusals = 0;
  /// Problems that no kernel takes.
  std::int64_t without_kernel = 0;
  /// Kernels that ran, each once.
  std::set<std::string_view> kernels = {};
  /// Right results of each family.
  std::map<std::string_view, std::int64_t> by_family = {};
  std::vector<WrongAnswer> wrong = {};
};

/// The kernels that a campaign is about: they pass the filter, and their operations offer problems
/// (OperationLab::campaign).
std::vector<Kernel> campaign_kernels(const Filter& filter);

/// Runs the campaign on all processors. On a device, one kernel runs at a time, while other threads make
/// problems and their references. Fails when memory runs out or the device stops answering.
/// @pre campaign_kernels leaves some
Result<CampaignReport> run_campaign(const CampaignOptions& options, Progress& progress);

}  // namespace quarry::lab
