/// quarry warm-up: loads or compiles what a list of problems needs, ahead of the first request.
#include "quarry/warm_up.hpp"

#include <chrono>
#include <cstdio>

#include "lab/problems/problem_text.hpp"
#include "lab/problems/query.hpp"
#include "lab/progress.hpp"
#include "lab/trials/trial.hpp"
#include "quarry/system.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/pack_targets.hpp"
#include "tools/command/common/problem_flags.hpp"
#include "tools/command/common/selection.hpp"

namespace quarry::command {
namespace {

struct WarmUpFlags {
  ProblemFlags problem;
  std::string log;
  std::string where;
  std::string device_model;
  std::string threads;
};

/// What the flags ask for.
struct WarmUpRequest {
  std::vector<lab::Problem> problems;
  Filter filter;
  DeviceModel device;
  WarmUpOptions options;
};

Result<WarmUpRequest> read_warm_up(const WarmUpFlags& flags) {
  WarmUpRequest request;
  const Result<Filter> filter = read_filter(flags.where);
  if (!filter) return filter.status();
  request.filter = *filter;
  const Result<DeviceModel> device = read_device_model(flags.device_model);
  if (!device) return device.status();
  request.device = *device;
  // A device that was named is compiled for. Only the one that is here can be loaded on.
  const bool loads = flags.device_model.empty() && cuda_status(lab::used_device);
  request.options.device = loads ? lab::used_device : -1;
  if (!flags.threads.empty()) {
    const Result<std::int64_t> threads = lab::parse_integer("--threads", flags.threads, 1, 1024);
    if (!threads) return threads.status();
    request.options.threads = static_cast<int>(*threads);
  }
  if (!flags.log.empty() && !(flags.problem.words.empty() && flags.problem.shapes_file.empty())) {
    return Status(StatusCode::parse_error, "problems and --log are both given: leave one of them out");
  }
  Result<std::vector<lab::Problem>> problems =
      flags.log.empty() ? read_problems(flags.problem) : read_logged_problems(flags.log, flags.problem);
  if (!problems) return problems.status();
  request.problems = *std::move(problems);
  return request;
}

std::string summary(const WarmUpRequest& request, const WarmUpReport& report, double seconds) {
  char duration[32];
  std::snprintf(duration, sizeof duration, "%.1f s", seconds);
  return counted(request.problems.size(), "problem") + ": " + counted(report.ready(), "kernel") + " ready, " +
         std::to_string(report.precompiled) + " precompiled, " + std::to_string(report.cached) +
         " from the cache, " + std::to_string(report.compiled) + " compiled; " +
         counted(report.failures.size(), "failure") + "; " +
         (request.options.device < 0 ? "for " : "loaded on ") + request.device.name + " (" +
         capability_text(request.device.cc) + "), " + duration + "\n";
}

int run_warm_up(const WarmUpFlags& flags) {
  Result<WarmUpRequest> request = read_warm_up(flags);
  if (!request) return report(request.status());
  std::vector<lab::HeldArguments> held;
  for (const lab::Problem& problem : request->problems) held.push_back(arguments_of(problem));
  const std::vector<Arguments> problems(held.begin(), held.end());
  const auto start = std::chrono::steady_clock::now();
  WarmUpReport done_work;
  {
    std::optional<lab::Progress> progress;
    std::size_t before = 0;
    request->options.progress = [&](std::size_t now, std::size_t total) {
      if (!progress) progress.emplace("warm-up", total);
      progress->advance(now - before);
      before = now;
    };
    std::vector<FindOptions> find;
    for (const lab::Problem& problem : request->problems)
      find.push_back(find_options(problem, {.device = &request->device}));
    done_work = warm_up_each(problems, find, request->options, request->filter);
  }
  for (const WarmUpFailure& failure : done_work.failures) {
    const std::string& kernel = failure.kernel;
    message(shape_text(request->problems[failure.problem]) + ": " + (kernel.empty() ? "" : kernel + ": ") +
            failure.status.message());
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  write_output(summary(*request, done_work, seconds.count()));
  return done_work.failures.empty() ? done : failed;
}

}  // namespace

void add_warm_up(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<WarmUpFlags>();
  CLI::App* command = add_command(
      app, "warm-up",
      {.help = "Compile what problems need into the cache, and load it, before the first request",
       .usage = "[OPERATION SHAPE [TYPE]] [FLAGS]",
       .examples = {"quarry warm-up gemm 300x200x100 f16 --device-model a100"},
       .notes =
           problem_notes() +
           "\nThe first choice for each problem is compiled unless there is machine code, with the "
           "reductions "
           "that it needs,\nand is loaded where there is a device. Other processes find what was compiled in "
           "the cache. A failure\nstops nothing else. A warm-up that was stopped goes on when it is started "
           "again."});
  add_problem_flags(*command, flags->problem);
  add_query_flags(*command, flags->problem);
  command->add_option("--log", flags->log, "Problems that QUARRY_LOG_PROBLEMS made a program write")
      ->type_name("FILE")
      ->group("Problem");
  add_where_flag(*command, flags->where);
  command
      ->add_option("--device-model", flags->device_model,
                   "Compile for this device (a100, h100, h200), and load nothing; otherwise for the one here")
      ->type_name("NAME");
  command->add_option("--threads", flags->threads, "Kernels compiled at a time; otherwise one a processor")
      ->type_name("N");
  command->callback([flags, &action] { action = [flags] { return run_warm_up(*flags); }; });
}

}  // namespace quarry::command
