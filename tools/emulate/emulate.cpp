/// quarry emulate: runs kernels' own sources on the CPU, with every access checked.
#include <algorithm>
#include <mutex>
#include <optional>
#include <random>

#include "lab/emulate/counter_text.hpp"
#include "lab/emulate/covering.hpp"
#include "lab/emulate/entries.hpp"
#include "lab/emulate/problems.hpp"
#include "lab/parallel.hpp"
#include "lab/problems/kernel_problem.hpp"
#include "lab/problems/seed.hpp"
#include "lab/progress.hpp"
#include "lab/text.hpp"
#include "lab/trials/solve.hpp"
#include "quarry/registry.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/paths.hpp"
#include "tools/command/common/problem_flags.hpp"
#include "tools/command/common/selection.hpp"
#include "tools/command/common/table.hpp"

namespace quarry::command {
namespace {

namespace emulate = lab::emulate;
using emulate::EmulatedProblem;
using emulate::Modules;
using emulate::Verdict;

struct EmulateFlags {
  SelectionFlags selection;
  lab::SettingTexts settings;
  ProblemChoiceFlags problems;
  std::string sample;
  std::string seed;
  std::string copies;
  std::string kernels;
  std::string format;
  bool cover = false;
  bool no_conflicts = false;
};

/// What is asked for, read.
struct EmulateRequest {
  std::vector<Kernel> kernels = {};
  /// Of the one kernel; otherwise problems are random.
  std::optional<lab::Problem> problem = {};
  lab::ProblemChoice problems = {};
  std::uint64_t seed = 0;
  std::optional<emulator::CopyTiming> copies = {};
  std::string sources;
  bool no_conflicts = false;
  bool json = false;
};

/// A kernel that went wrong on a problem.
struct Finding {
  std::string kernel;
  std::string reason;
  std::string replay;
};

struct Findings {
  /// Why a run could not begin.
  Status status;
  std::int64_t trials = 0;
  lab::PathCounts paths = {};
  std::vector<Finding> wrong;
  emulator::Counters counters;
};

/// `count` of the kernels, drawn by the seed.
std::vector<Kernel> sample_of(std::vector<Kernel> kernels, std::size_t count, std::uint64_t seed) {
  std::ranges::sort(kernels, {}, [](const Kernel& kernel) { return kernel.name(); });
  for (std::size_t i = 0; i < std::min(count, kernels.size()); ++i) {
    std::swap(kernels[i], kernels[i + lab::derived_seed(seed, i) % (kernels.size() - i)]);
  }
  if (count < kernels.size())
    kernels.erase(kernels.begin() + static_cast<std::ptrdiff_t>(count), kernels.end());
  return kernels;
}

Status read_numbers(const EmulateFlags& flags, EmulateRequest& request) {
  const Result<std::uint64_t> seed = lab::read_seed(flags.seed);
  if (!seed) return seed.status();
  request.seed = *seed;
  if (!flags.copies.empty()) {
    const Result<emulator::CopyTiming> copies = emulate::parse_copies(flags.copies);
    if (!copies) return copies.status();
    request.copies = *copies;
  }
  if (!flags.format.empty() && flags.format != "json" && flags.format != "table") {
    return {StatusCode::parse_error, "--format: expected table or json, got " + lab::quoted(flags.format)};
  }
  request.json = flags.format == "json";
  return {};
}

Status choose_kernels(const EmulateFlags& flags, EmulateRequest& request) {
  Result<std::vector<Kernel>> kernels = read_selection(flags.selection);
  if (!kernels) return kernels.status();
  Result<lab::ProblemChoice> problems = read_problem_choice(flags.problems, *kernels);
  if (!problems) return problems.status();
  request.problems = *std::move(problems);
  std::vector<Kernel> chosen;
  if (flags.cover) chosen = emulate::covering(*kernels);
  if (!flags.sample.empty()) {
    const Result<std::int64_t> count = lab::parse_integer("--sample", flags.sample, 1, 1'000'000);
    if (!count) return count.status();
    for (const Kernel& kernel : sample_of(*kernels, static_cast<std::size_t>(*count), request.seed)) {
      if (std::ranges::find(chosen, kernel) == chosen.end()) chosen.push_back(kernel);
    }
  }
  request.kernels = flags.cover || !flags.sample.empty() ? std::move(chosen) : *std::move(kernels);
  if (request.kernels.empty()) return {StatusCode::no_kernel, "no kernel was selected"};
  return {};
}

/// A shape is one problem of one kernel: what chooses problems or kernels does not go with it.
Status check_shape_alone(const EmulateFlags& flags) {
  const char* const other = !flags.problems.path.empty()       ? "--path chooses random problems"
                            : !flags.problems.problems.empty() ? "--problems chooses random problems"
                            : flags.cover                      ? "--cover chooses kernels"
                            : !flags.sample.empty()            ? "--sample chooses kernels"
                                                               : nullptr;
  if (other == nullptr) return {};
  return {StatusCode::parse_error, std::string(other) + ": it does not go with a shape"};
}

Result<EmulateRequest> read_request(EmulateFlags flags) {
  EmulateRequest request{.sources = flags.kernels, .no_conflicts = flags.no_conflicts};
  if (Status s = read_numbers(flags, request); !s) return s;
  std::vector<std::string>& words = flags.selection.names;
  std::string shape;
  if (!words.empty() && lab::is_shape(words.back())) {
    shape = lab::take_shape(words);
    if (words.size() != 1) {
      return Status(StatusCode::parse_error, "a shape goes with one kernel: quarry emulate NAME SHAPE");
    }
    if (Status s = check_shape_alone(flags); !s) return s;
  } else if (!flags.settings.empty()) {
    return Status(StatusCode::parse_error,
                  "--" + flags.settings.begin()->first + " goes with a shape: quarry emulate NAME SHAPE");
  }
  if (Status s = choose_kernels(flags, request); !s) return s;
  if (shape.empty()) return request;
  Result<lab::Problem> problem = lab::problem_for(request.kernels[0], shape, flags.settings);
  if (!problem) return problem.status();
  request.problem = *std::move(problem);
  return request;
}

/// Problem `number` of a kernel (OperationLab::emulated): the one that was asked for, or a random one.
EmulatedProblem problem_of(const EmulateRequest& request, const Kernel& kernel, std::int64_t number) {
  if (!request.problem) return emulate::random_problem_for(kernel, request.seed, number, request.copies);
  return {*request.problem, request.seed, request.copies.value_or(emulator::CopyTiming::late),
          emulate::guarded_end(request.seed)};
}

/// Every entry that the kernels may need.
Result<Modules> compile(const EmulateRequest& request) {
  return Modules::compile(emulate::entries_of(request.kernels), request.sources);
}

/// Fails where there is no memory for the operands.
Result<Verdict> run_one(const Kernel& kernel, const EmulatedProblem& problem, const Modules& modules,
                        int threads) {
  Result<lab::Operands> operands =
      lab::Operands::make(arguments_of(problem.problem), operand_options(problem.problem, problem.seed));
  if (!operands) return operands.status();
  return emulate::run_trial(
      kernel, *operands, modules,
      {.emulator = {.seed = problem.seed, .copies = problem.copies, .host_threads = threads},
       .guarded = problem.guarded});
}

/// What is wrong with a run, "" where nothing is.
std::string fault_of(const EmulateRequest& request, const Verdict& verdict) {
  if (!verdict.right()) return verdict.reason();
  return request.no_conflicts ? emulate::conflicts_text(verdict.counters) : "";
}

Findings run_all(const EmulateRequest& request, const Modules& modules) {
  Findings findings;
  std::mutex mutex;
  std::size_t trials = 0;
  for (const Kernel& kernel : request.kernels)
    trials += emulate::numbers_for(kernel, request.problems, request.seed).size();
  lab::Progress progress("emulate", trials);
  std::vector<std::vector<std::int64_t>> met(request.kernels.size());  // numbers, by kernel
  lab::parallel_for(std::ssize(request.kernels), lab::default_threads(), [&](int, std::int64_t i) {
    const Kernel& kernel = request.kernels[static_cast<std::size_t>(i)];
    for (const std::int64_t number : emulate::numbers_for(kernel, request.problems, request.seed)) {
      const EmulatedProblem problem = problem_of(request, kernel, number);
      const Result<Verdict> verdict = run_one(kernel, problem, modules, 1);
      const std::string fault = verdict ? fault_of(request, *verdict) : "";
      const std::lock_guard lock(mutex);
      if (!verdict) findings.status = verdict.status();
      if (!findings.status) return;
      ++findings.trials;
      met[static_cast<std::size_t>(i)].push_back(number);
      findings.counters += verdict->counters;
      progress.advance(1);
      if (!fault.empty()) {
        findings.wrong.push_back({std::string(kernel.name()), fault, emulate::replay(kernel, problem)});
        break;
      }
    }
  });
  for (std::size_t i = 0; i < met.size(); ++i)
    findings.paths.add(request.kernels[i].metadata(), met[i], request.problems.path);
  std::ranges::sort(findings.wrong, {}, &Finding::kernel);
  return findings;
}

Findings run_single(const EmulateRequest& request, const Modules& modules) {
  const Kernel& kernel = request.kernels[0];
  const EmulatedProblem problem = problem_of(request, kernel, 0);
  Result<Verdict> verdict = run_one(kernel, problem, modules, 0);
  // What blocks do to each other is found at the same place each time only where they run one after another.
  if (verdict && !verdict->right()) verdict = run_one(kernel, problem, modules, 1);
  if (!verdict) return {.status = verdict.status(), .wrong = {}, .counters = {}};
  Findings findings{.status = {}, .trials = 1, .wrong = {}, .counters = verdict->counters};
  const std::string fault = fault_of(request, *verdict);
  if (!fault.empty()) {
    findings.wrong.push_back({std::string(kernel.name()), fault, emulate::replay(kernel, problem)});
  }
  return findings;
}

void print_findings(const EmulateRequest& request, const Findings& findings) {
  if (request.json) {
    nlohmann::ordered_json document = json_document();
    document["seed"] = request.seed;
    document["kernels"] = nlohmann::ordered_json::array();
    for (const Kernel& kernel : request.kernels) document["kernels"].push_back(std::string(kernel.name()));
    document["trials"] = findings.trials;
    document["paths"] = paths_json(findings.paths);
    document["counters"] = emulate::counters_json(findings.counters);
    document["wrong"] = nlohmann::ordered_json::array();
    for (const Finding& each : findings.wrong) {
      document["wrong"].push_back(
          {{"kernel", each.kernel}, {"reason", each.reason}, {"replay", each.replay}});
    }
    return print_json(document);
  }
  std::string text;
  for (const Finding& each : findings.wrong) {
    text += "WRONG " + each.kernel + ": " + each.reason + "\n  " + each.replay + "\n";
  }
  text += emulate::counters_text(findings.counters) + paths_text(findings.paths);
  const std::size_t kernels = request.kernels.size();
  text += std::to_string(kernels) + (kernels == 1 ? " kernel, " : " kernels, ") +
          std::to_string(findings.trials) + (findings.trials == 1 ? " run: " : " runs: ") +
          std::to_string(findings.wrong.size()) + " wrong; seed " + std::to_string(request.seed) + "\n";
  write_output(text);
}

int emulate_kernels(const EmulateFlags& flags) {
  const Result<EmulateRequest> request = read_request(flags);
  if (!request) return report(request.status());
  if (request->problem) {
    // Refused in the words of a run, before anything is compiled.
    const Status supported = request->kernels[0].supports(arguments_of(*request->problem));
    if (!supported) return report(supported);
    if (Status fits = lab::check_memory(*request->problem); !fits) return report(fits);
  }
  const Result<Modules> modules = compile(*request);
  if (!modules) return report(modules.status()), usage;
  const Findings findings = request->problem ? run_single(*request, *modules) : run_all(*request, *modules);
  if (!findings.status) return report(findings.status);
  print_findings(*request, findings);
  return findings.wrong.empty() ? done : failed;
}

}  // namespace

void add_emulate(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<EmulateFlags>();
  CLI::App* command = add_command(
      app, "emulate",
      {.help = "Run the sources of kernels on the CPU and check every memory access",
       .usage = "NAME SHAPE [FLAGS] | [NAME...] [FLAGS]",
       .examples = {"quarry emulate gemm_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4 100x70x33",
                    "quarry emulate --where 'family == gemm_sm80 and stages == 5' --sample 2 --problems 2",
                    "quarry emulate --where 'family == gemm_simt' --cover --problems 2"},
       .notes =
           "With a shape, one kernel runs on one problem, and what it did is counted. Without one, kernels "
           "run on random problems:\n"
           "first one for each path on which results leave the kernel, then mixed ones, all strides padded. "
           "Races, reads of\n"
           "memory that was never written or has not landed, accesses out of bounds and deadlocks are "
           "reported with their places\n"
           "in the source; results are compared with float64 and with the host executor. The seed repeats a "
           "run exactly. See "
           "docs/emulator.md."});
  add_selection_flags(*command, flags->selection);
  command->add_flag("--cover", flags->cover,
                    "Run the fewest kernels found in which each pair of setting values occurs, not all");
  command
      ->add_option("--sample", flags->sample,
                   "Run N kernels, drawn at random with the seed, not all; with --cover: in addition")
      ->type_name("N");
  add_problem_choice_flags(*command, flags->problems);
  command->add_option("--seed", flags->seed, "Seed of operands and order; otherwise a fresh one")
      ->type_name("N");
  command
      ->add_option("--copies", flags->copies,
                   "When asynchronous copies land: late, early or mixed (late; random problems: in turn)")
      ->type_name("WHEN");
  command->add_option("--kernels", flags->kernels, "Compile the kernels of this folder, not the tree's own")
      ->type_name("FOLDER");
  command->add_flag("--no-conflicts", flags->no_conflicts, "Count a bank conflict as a failure, too");
  command->add_option("--format", flags->format, "table or json")->type_name("FORMAT");
  add_setting_flags(*command, flags->settings);
  command->callback([flags, &action] { action = [flags] { return emulate_kernels(*flags); }; });
}

}  // namespace quarry::command
