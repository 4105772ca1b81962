#include "lab/verify/kernels.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "lab/operation.hpp"
#include "lab/problems/seed.hpp"
#include "operations/common/host/parallel.hpp"

namespace quarry::lab {
namespace {

/// A kernel on its way.
struct Progressing {
  Kernel kernel;
  /// Its place among the kernels that were given.
  std::size_t place;
  /// Of its problems, and of those that it was run on.
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> met = {};
  std::int64_t wrong_problems = 0;
  std::string reason = {};
  std::string replay = {};
};

/// A problem that kernels share, with its reference.
struct SharedProblem {
  std::int64_t number = 0;
  Problem problem;
  std::uint64_t seed = 0;
  Reference reference;
};

/// Some kernels whose operands are stored alike.
struct Task {
  const std::string& storage;
  std::span<Progressing> kernels;

  /// Any of them: what problems and storage depend on is the same of all.
  const KernelMetadata& kernel() const { return kernels.front().kernel.metadata(); }
};

/// By storage key.
using StorageGroups = std::map<std::string, std::vector<Progressing>>;

/// Kernels a task: few enough to keep all processors busy, enough to share operands.
constexpr std::size_t task_kernels = 16;
/// Problems whose references are kept at the same time.
constexpr std::size_t problems_at_once = 16;

bool has_number(const Progressing& kernel, std::int64_t number) {
  return std::ranges::find(kernel.numbers, number) != kernel.numbers.end();
}

/// The numbers of all problems that some of these kernels have.
std::vector<std::int64_t> all_numbers(const StorageGroups& groups) {
  std::set<std::int64_t> numbers;
  for (const auto& [storage, kernels] : groups) {
    for (const Progressing& kernel : kernels) numbers.insert(kernel.numbers.begin(), kernel.numbers.end());
  }
  return {numbers.begin(), numbers.end()};
}

std::vector<Kernel> kernels_of(const StorageGroups& groups) {
  std::vector<Kernel> kernels;
  for (const auto& [storage, some] : groups) {
    for (const Progressing& each : some) kernels.push_back(each.kernel);
  }
  return kernels;
}

/// What all threads share.
class Verification {
 public:
  /// @param report what is known before anything runs
  Verification(const VerifyOptions& options, VerifyRecord& record, Progress& progress, VerifyReport report)
      : options_(options), record_(record), progress_(progress), report_(std::move(report)) {}

  /// All problems for the kernels of one result key.
  void run_group(const std::string& key, StorageGroups& groups) {
    if (options_.prepare) options_.prepare(kernels_of(groups));
    const std::vector<Task> tasks = split(groups);
    const int threads = options_.place == Place::host ? host::default_threads() : 1;
    const std::vector<std::int64_t> numbers = all_numbers(groups);
    for (std::span<const std::int64_t> left = numbers; !left.empty() && status_;) {
      const auto some = left.first(std::min(problems_at_once, left.size()));
      left = left.subspan(some.size());
      const std::vector<SharedProblem> problems = share(key, tasks[0].kernel(), some);
      host::parallel_for(std::ssize(tasks), threads, [&](int, std::int64_t i) {
        const Task& task = tasks[static_cast<std::size_t>(i)];
        for (const SharedProblem& problem : problems) run_task(task, problem);
        if (left.empty()) finish(task);
      });
      if (left.empty() || !is_stopped()) continue;
      for (const Task& task : tasks) finish(task);
      left = {};
    }
  }

  bool is_stopped() const { return options_.is_stopped && options_.is_stopped(); }

  /// Notes that these kernels were not run at all.
  void leave(const StorageGroups& groups) {
    for (const auto& [storage, kernels] : groups) report_.left += std::ssize(kernels);
  }

  Result<VerifyReport> report() && {
    if (!status_) return status_;
    return std::move(report_);
  }

 private:
  static std::vector<Task> split(StorageGroups& groups) {
    std::vector<Task> tasks;
    for (auto& [storage, kernels] : groups) {
      std::span<Progressing> left = kernels;
      while (!left.empty()) {
        const std::size_t some = std::min(task_kernels, left.size());
        tasks.push_back({storage, left.first(some)});
        left = left.subspan(some);
      }
    }
    return tasks;
  }

  /// Problems of these numbers, with references, which do not depend on how operands are stored: any way
  /// will do.
  std::vector<SharedProblem> share(const std::string& key, const KernelMetadata& any,
                                   std::span<const std::int64_t> numbers) {
    const OperationLab& lab = lab_of(any.operation);
    std::vector<SharedProblem> problems;
    for (const std::int64_t number : numbers) {
      const std::uint64_t seed =
          derived_seed(options_.seed + number_of(key), static_cast<std::uint64_t>(number));
      SharedProblem& shared =
          problems.emplace_back(SharedProblem{number, lab.random(any, seed, number), seed, {}});
      const Result<TrialProblem> trial =
          TrialProblem::make(lab.stored(shared.problem, any, seed), seed, Place::host);
      if (!trial) {
        stop(trial.status());
        return {};
      }
      Result<Reference> reference = compute_reference(trial->host.arguments());
      if (!reference) {
        stop(reference.status());
        return {};
      }
      shared.reference = *std::move(reference);
    }
    return problems;
  }

  void run_task(const Task& task, const SharedProblem& shared) {
    const auto runs = [&](const Progressing& each) { return has_number(each, shared.number); };
    if (stopped() || std::ranges::none_of(task.kernels, runs)) return;
    const OperationLab& lab = lab_of(task.kernel().operation);
    const Problem problem =
        lab.stored(shared.problem, task.kernel(), derived_seed(shared.seed, number_of(task.storage)));
    Result<TrialProblem> trial = TrialProblem::make(problem, shared.seed, options_.place);
    if (!trial) return stop(trial.status());
    for (Progressing& each : task.kernels) {
      if (stopped()) return;
      if (!runs(each)) continue;
      const Controls controls = lab.controls_for(each.kernel.metadata(), shared.problem);
      const std::string command = replay(with(controls, problem), each.kernel, shared.seed);
      if (options_.say) say(command);
      const Verdict verdict = run_trial(each.kernel, controls, *trial, shared.reference);
      each.met.push_back(shared.number);
      if (!verdict.right()) note(each, verdict.reason(), command);
      advance();
    }
  }

  std::string replay(const Problem& problem, const Kernel& kernel, std::uint64_t seed) const {
    return "quarry run " + command_text(problem) + " --kernel " + std::string(kernel.name()) + " --seed " +
           std::to_string(seed) + " --on " + std::string(to_string(options_.place));
  }

  void note(Progressing& kernel, const std::string& reason, const std::string& command) {
    if (kernel.wrong_problems++ == 0) {
      kernel.reason = reason;
      kernel.replay = command;
    }
    if (options_.place == Place::host) return;
    // An address fault ends all work on the device: what follows would fail too.
    if (Status s = synchronize(used_device); !s) stop(Status(s.code(), s.message() + ", after: " + command));
  }

  void finish(const Task& task) {
    const std::lock_guard lock(mutex_);
    for (const Progressing& kernel : task.kernels) {
      if (!status_) return;
      if (kernel.wrong_problems > 0) {
        report_.wrong.push_back({kernel.kernel, kernel.wrong_problems, kernel.reason, kernel.replay});
        continue;
      }
      if (kernel.met.size() < kernel.numbers.size()) {
        ++report_.left;
        continue;
      }
      ++report_.right;
      status_ = record_.add(kernel.kernel.name(), std::ssize(kernel.numbers));
      if (status_ && options_.passed) status_ = options_.passed(kernel.kernel, std::ssize(kernel.numbers));
    }
  }

  void say(const std::string& command) {
    const std::lock_guard lock(mutex_);
    progress_.clear();
    options_.say(command);
  }

  void advance() {
    const std::lock_guard lock(mutex_);
    progress_.advance(1);
  }

  bool stopped() {
    if (is_stopped()) return true;
    const std::lock_guard lock(mutex_);
    return !status_;
  }

  /// Ends the verification with this failure, unless it has one.
  void stop(const Status& status) {
    const std::lock_guard lock(mutex_);
    if (status_) status_ = status;
  }

  const VerifyOptions& options_;
  std::mutex mutex_;
  VerifyRecord& record_;
  Progress& progress_;
  VerifyReport report_;
  Status status_;
};

/// Adds the problems that kernels were run on, which are not all where the verification was stopped. Paths
/// come in the order of the kernels.
void add_runs(const std::map<std::pair<Operation, std::string>, StorageGroups>& groups,
              std::span<const Kernel> kernels, std::string_view only, VerifyReport& report) {
  std::vector<std::span<const std::int64_t>> met(kernels.size());
  for (const auto& [key, storages] : groups) {
    for (const auto& [storage, some] : storages) {
      for (const Progressing& each : some) met[each.place] = each.met;
    }
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    report.problems += std::ssize(met[i]);
    report.paths.add(kernels[i].metadata(), met[i], only);
  }
}

}  // namespace

std::int64_t problems_for(const Kernel& kernel, const VerifyOptions& options) {
  return std::ssize(problem_numbers(kernel.metadata(), options.problems, 0));
}

Result<VerifyReport> verify_kernels(const std::vector<Kernel>& kernels, const VerifyOptions& options,
                                    VerifyRecord& record, Progress& progress) {
  std::map<std::pair<Operation, std::string>, StorageGroups> groups;
  VerifyReport report;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const KernelMetadata& metadata = kernels[i].metadata();
    const OperationLab& lab = lab_of(metadata.operation);
    const std::string key = lab.result_key(metadata);
    std::vector<std::int64_t> numbers =
        problem_numbers(metadata, options.problems, derived_seed(options.seed, number_of(key)));
    const std::int64_t count = std::ssize(numbers);
    report.least_problems = i == 0 ? count : std::min(report.least_problems, count);
    report.most_problems = std::max(report.most_problems, count);
    groups[{metadata.operation, key}][lab.storage_key(metadata)].push_back(
        {kernels[i], i, std::move(numbers)});
  }
  Verification verification(options, record, progress, std::move(report));
  for (auto& [key, storages] : groups) {
    if (verification.is_stopped()) {
      verification.leave(storages);
    } else {
      verification.run_group(key.second, storages);
    }
  }
  Result<VerifyReport> result = std::move(verification).report();
  if (result) add_runs(groups, kernels, options.problems.path, *result);
  return result;
}

}  // namespace quarry::lab
