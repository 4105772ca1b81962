/// Compiling what problems need of kernels, for a pack.
#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "operations/common/expression/tensors.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/common/row_checks.hpp"
#include "quarry/pack.hpp"
#include "registry/compile/standalone.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "registry/query/own_kernels.hpp"

namespace quarry {
namespace {

using Results = std::vector<Result<Artifact>>;

/// The entries that runs of an expression launch, whether K is cut in parallel or not.
std::vector<std::uint32_t> entries_of_all_cuts(const detail::Row& row,
                                               const detail::InternedExpression& expression) {
  return {detail::entry_with(row.entry, expression), row.entry,
          detail::entry_with(row.companions[0], expression)};
}

/// The entries that a run launches, the kernel's own first: that with the expression where there is one.
Result<std::vector<std::uint32_t>> entries_of_run(const Kernel& kernel, Arguments problem, int target) {
  const detail::Row& row = detail::row_of(kernel);
  if (Status s = detail::check_compute_capability(row.metadata, target); !s) return s;
  detail::PreparedLaunch prepared;
  if (Status s = detail::prepare_launch(row, kernel.entry_controls(), problem, prepared); !s) return s;
  std::vector<std::uint32_t> entries;
  for (const Step& step : prepared.launch.steps) {
    if (step.kind != Step::Kind::kernel) continue;
    const std::uint32_t entry = detail::entry_of_step(row, prepared.launch, step);
    entries.insert(step.entry == 0 ? entries.begin() : entries.end(), entry);
  }
  if (entries.empty()) return Status(StatusCode::invalid_arguments, "Nothing is launched for its problem");
  if (const detail::InternedExpression* const with = prepared.launch.expression;
      with != nullptr && detail::may_be_reduced(row, with->expression))
    entries = entries_of_all_cuts(row, *with);
  if (std::ranges::find(entries, detail::no_entry) != entries.end())
    return Status(StatusCode::not_precompiled, "A kernel that follows it is not in this library");
  return entries;
}

/// An entry to compile, and for what.
struct Task {
  std::uint32_t entry = 0;
  /// Places of the kernels whose own code it is; none for an entry that follows a kernel.
  std::vector<std::size_t> kernels;
};

/// The tasks of all kernels, each entry once. @param results failures of those without tasks
std::vector<Task> tasks_of(std::span<const Kernel> kernels, std::span<const Arguments> problems, int target,
                           Results& results) {
  std::map<std::uint32_t, std::vector<std::size_t>> own;
  std::set<std::uint32_t> followers;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto entries = entries_of_run(kernels[i], problems[i], target);
    if (!entries) {
      results[i] = entries.status();
      continue;
    }
    own[entries->front()].push_back(i);
    followers.insert(entries->begin() + 1, entries->end());
  }
  std::vector<Task> tasks;
  for (auto& [entry, places] : own) tasks.push_back({entry, std::move(places)});
  for (const std::uint32_t entry : followers) {
    if (!own.contains(entry)) tasks.push_back({entry, {}});
  }
  return tasks;
}

}  // namespace

std::vector<Result<Artifact>> compile_for_pack(std::span<const Kernel> kernels,
                                               std::span<const Arguments> problems,
                                               const CompileOptions& options, const CompileProgress& progress,
                                               int threads) {
  if (kernels.size() != problems.size()) {
    const std::string what = std::to_string(kernels.size()) + " kernels and " +
                             std::to_string(problems.size()) + " problems: expected a problem for each";
    return Results(kernels.size(), Status(StatusCode::invalid_arguments, what));
  }
  CompileOptions settled = options;
  if (settled.target == 0) settled.target = default_device_model().cc;
  Results results(kernels.size(), Status(StatusCode::device_error, "not compiled"));
  const std::vector<Task> tasks = tasks_of(kernels, problems, settled.target, results);
  std::mutex mutex;
  std::size_t done = 0;
  const int workers = threads > 0 ? threads : host::default_threads();
  host::parallel_for(std::ssize(tasks), workers, [&](int, std::int64_t i) {
    const Task& task = tasks[static_cast<std::size_t>(i)];
    Result<Artifact> made = detail::standalone_artifact(task.entry, settled);
    const std::lock_guard lock(mutex);
    for (const std::size_t kernel : task.kernels) results[kernel] = made;
    if (task.kernels.empty()) return results.push_back(std::move(made));
    done += task.kernels.size();
    if (progress) progress(done, kernels.size(), kernels[task.kernels.back()]);
  });
  return results;
}

}  // namespace quarry
