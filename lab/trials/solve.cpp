#include "lab/trials/solve.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "lab/text.hpp"
#include "quarry/system.hpp"
#include "registry/device/prepared.hpp"

namespace quarry::lab {
namespace {

/// Multiplications that a reference may cost: about a second on one core.
constexpr double reference_multiplications = 1e9;
/// Above this the host executor takes noticeably long.
constexpr double patient_multiplications = 4e9;

/// The best kernel that can run, with a message where a better one cannot.
Result<Candidate> best_kernel(const HeldArguments& arguments, FindOptions options,
                              const SolveSetting& setting) {
  options.limit = 1;
  const CandidateList found = get_kernels(arguments, setting.filter, options);
  if (options.availability == Availability::any) {
    if (found.empty()) return found.status();
    return found.front();
  }
  options.availability = Availability::any;
  const CandidateList all = get_kernels(arguments, setting.filter, options);
  if (all.empty()) return all.status();
  if (found.empty()) {
    return Status(StatusCode::not_precompiled,
                  "none of the " + std::to_string(all.matched()) +
                      " kernels that match is precompiled for this device; the best is " +
                      std::string(all.front().name()));
  }
  if (found.front() != all.front()) {
    setting.say("the best kernel, " + std::string(all.front().name()) +
                ", is not precompiled; taking the best that is, " + "predicted to take " +
                rounded(found.front().predicted_seconds() / all.front().predicted_seconds(), 2) +
                " times as long");
  }
  return found.front();
}

/// The kernel that the user named, as far as the filter takes it.
Result<Candidate> named_kernel(const HeldArguments& arguments, const FindOptions& options,
                               const SolveSetting& setting) {
  const Kernel& kernel = *setting.kernel;
  if (!setting.filter(kernel.metadata()))
    return Status(StatusCode::filtered_out,
                  std::string(kernel.name()) + " does not take it: the filter leaves it out");
  return quarry::candidate_of(kernel, arguments, options);
}

/// Median seconds of one run on the host executor, of as many as fit into half a second. The operands are
/// warm.
Result<double> time_on_host(const Plan& plan, const PlanOperands& operands, Workspace workspace) {
  using clock = std::chrono::steady_clock;
  constexpr std::size_t most = 11;
  constexpr double budget = 0.5;
  std::vector<double> seconds;
  double total = 0;
  while (seconds.empty() || (seconds.size() < most && total < budget)) {
    const auto begin = clock::now();
    if (Status s = plan.run(operands, nullptr, workspace); !s) return s;
    seconds.push_back(std::chrono::duration<double>(clock::now() - begin).count());
    total += seconds.back();
  }
  std::ranges::nth_element(seconds, seconds.begin() + std::ssize(seconds) / 2);
  return seconds[seconds.size() / 2];
}

Result<double> time_kernel(const Kernel& kernel, const TrialProblem& trial) {
  const HeldArguments arguments = with(kernel.controls(), trial.arguments());
  const Result<Plan> plan = kernel.prepare(arguments);
  if (!plan) return plan.status();
  const Place place = trial.device ? Place::device : Place::host;
  const Result<TrialWorkspace> memory = TrialWorkspace::make(plan->workspace_size(), place);
  if (!memory) return memory.status();
  const PlanOperands operands = detail::operands_of(arguments);
  if (place == Place::host) return time_on_host(*plan, operands, memory->workspace());
  return median_seconds(used_device, [&] { return plan->run(operands, nullptr, memory->workspace()); });
}

/// What can run: everything, but on a device without a compiler only what is precompiled.
Availability available_on(Place place) {
  const bool all = place == Place::host || compiler_status();
  return all ? Availability::any : Availability::precompiled;
}

}  // namespace

Status check_memory(const Problem& problem) {
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  // The operands, and what the outputs are compared with.
  const double needed = memory_bytes(problem, 2);
  if (needed <= 0.9 * memory) return {};
  return Status(StatusCode::device_error, "the operands need " + rounded(needed / (1 << 30), 1) +
                                              " GiB of host memory, this machine has " +
                                              rounded(memory / (1 << 30), 1));
}

Result<Solved> solve(const Problem& problem, std::uint64_t seed, const SolveSetting& setting) {
  const Place place = setting.place;
  const FindOptions options{.availability = available_on(place), .device = &setting.device};
  const HeldArguments shape = arguments_of(problem);
  const Result<Candidate> kernel =
      setting.kernel ? named_kernel(shape, options, setting) : best_kernel(shape, options, setting);
  if (!kernel) return kernel.status();
  if (Status fits = check_memory(problem); !fits) return fits;
  if (place == Place::host && flops(problem) / 2 > patient_multiplications) {
    setting.say("this takes a while on the host executor, which computes on the CPU what the kernel would");
  }
  Result<TrialProblem> trial = TrialProblem::make(problem, seed, place);
  if (!trial) return trial.status();
  const Result<Reference> reference =
      compute_reference(trial->host.arguments(), {.max_multiplications = reference_multiplications});
  if (!reference) return reference.status();
  Solved outcome{problem,
                 seed,
                 place,
                 *kernel,
                 run_trial(*kernel, kernel->controls(), *trial, *reference),
                 std::ssize(reference->outputs[0].rows),
                 reference->outputs[0].all_rows};
  if (!outcome.verdict.status) return outcome;
  const Result<double> seconds = time_kernel(*kernel, *trial);
  if (!seconds) return seconds.status();
  outcome.seconds = *seconds;
  return outcome;
}

}  // namespace quarry::lab
