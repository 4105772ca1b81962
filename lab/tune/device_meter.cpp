#include "lab/tune/device_meter.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include "lab/bench/yardstick.hpp"
#include "lab/problems/query.hpp"
#include "lab/problems/seed.hpp"
#include "lab/trials/compile_missing.hpp"

namespace quarry::lab {
namespace {

detail::TuningTimes times_of(const Spread& spread) {
  return {spread.low * 1e6, spread.median * 1e6, spread.high * 1e6};
}

}  // namespace

Result<std::vector<Kernel>> kernels_to_measure(const Problem& problem, const DeviceMeterOptions& options,
                                               const DeviceModel& device) {
  const CandidateList found = get_kernels(arguments_of(problem), {},
                                          find_options(problem, {.limit = options.bench.top,
                                                                 .max_workspace = bench_workspace,
                                                                 .availability = options.bench.availability,
                                                                 .device = &device}));
  if (found.empty()) return found.status();
  const double best = std::ranges::min(found, {}, &Candidate::predicted_seconds).predicted_seconds();
  std::vector<Kernel> kernels;
  for (const Candidate& each : found) {
    if (each.predicted_seconds() > options.prune * best && !each.measured_seconds()) break;
    kernels.push_back(each);
  }
  return kernels;
}

CompileAhead::CompileAhead(std::vector<Problem> problems, const DeviceModel& device,
                           std::function<std::vector<Kernel>(const Problem&)> kernels_of)
    : device_(device), kernels_of_(std::move(kernels_of)) {
  for (const Problem& problem : problems) compiled_[command_text(problem)] = false;
  thread_ = std::thread([this, problems = std::move(problems)] { run(problems); });
}

CompileAhead::~CompileAhead() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  thread_.join();
}

void CompileAhead::run(const std::vector<Problem>& problems) {
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
  for (const Problem& problem : problems) {
    const std::vector<std::uint32_t> missing = missing_entries(kernels_of_(problem), problem, device_);
    // In small parts, so that the end of a tuning does not wait long. A failure shows when the kernel runs.
    const auto part = static_cast<std::size_t>(threads);
    for (std::size_t i = 0; i < missing.size(); i += part) {
      {
        const std::lock_guard lock(mutex_);
        if (is_ending_) return;
      }
      compile_entries(std::span(missing).subspan(i, std::min(part, missing.size() - i)), device_.cc, threads);
    }
    const std::lock_guard lock(mutex_);
    compiled_[command_text(problem)] = true;
    changed_.notify_all();
    if (is_ending_) return;
  }
}

void CompileAhead::wait_for(const Problem& problem) {
  std::unique_lock lock(mutex_);
  const auto expected = compiled_.find(command_text(problem));
  if (expected == compiled_.end()) return;
  changed_.wait(lock, [&] { return expected->second; });
}

DeviceMeter::DeviceMeter(const BenchSetting& setting, const DeviceMeterOptions& options)
    : setting_(setting), options_(options) {}

void DeviceMeter::expect(std::vector<Problem> problems) {
  ahead_ = std::make_unique<CompileAhead>(
      std::move(problems), setting_.device,
      [options = options_, device = setting_.device](const Problem& problem) {
        const Result<std::vector<Kernel>> kernels = kernels_to_measure(problem, options, device);
        return kernels ? *kernels : std::vector<Kernel>();
      });
}

Result<std::vector<KernelTime>> DeviceMeter::measure(const Problem& problem) {
  if (ahead_) ahead_->wait_for(problem);
  const Result<std::vector<Kernel>> kernels = kernels_to_measure(problem, options_, setting_.device);
  if (!kernels) return kernels.status();
  BenchOptions bench = options_.bench;
  bench.top = kernels->size();
  const BenchSetting setting{.filter = setting_.filter,
                             .options = bench,
                             .device = setting_.device,
                             .kind = setting_.kind,
                             .library = nullptr,
                             .workspace = setting_.workspace,
                             .say = setting_.say};
  const Result<BenchResult> result = bench_shape(problem, derived_seed(options_.seed, measured_++), setting);
  if (!result) return result.status();
  std::vector<KernelTime> times;
  for (const Finalist& each : result->kernels) {
    const Result<Kernel> kernel = find_kernel(each.name);
    if (!kernel) continue;
    const Result<Candidate> candidate = quarry::candidate_of(
        *kernel, with(each.controls, arguments_of(problem)), {.device = &setting_.device});
    if (!candidate) continue;
    KernelTime time{.kernel = each.name,
                    .controls = each.controls,
                    .workspace = candidate->workspace(),
                    .gaps_us = times_of(each.timing.gaps)};
    if (each.timing.back_to_back) time.load_us = times_of(*each.timing.back_to_back);
    times.push_back(std::move(time));
  }
  if (times.empty()) return Status(StatusCode::unsupported, "no kernel gave a right result");
  return times;
}

double DeviceMeter::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace quarry::lab
