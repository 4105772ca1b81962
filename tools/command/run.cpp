/// quarry run: solves a problem with the best kernel, or a named one, and checks the result.
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "basic/text.hpp"
#include "bench_operands.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "problem_flags.hpp"
#include "registry/compile/compiler.hpp"
#include "registry/device/prepared.hpp"
#include "registry/query/operation_info.hpp"
#include "seed.hpp"
#include "selection.hpp"
#include "table.hpp"
#include "trial.hpp"

namespace quarry::command {
namespace {

struct RunFlags {
  ProblemFlags problem;
  ListingFlags listing;
  std::string where;
  std::string kernel;
  std::string device_model;
  std::string on;
  std::string seed;
};

/// A problem that was run.
struct Outcome {
  Problem problem;
  std::uint64_t seed;
  Place place;
  Candidate kernel;
  Verdict verdict;
  /// Rows of the output that were checked, of how many.
  std::int64_t checked_rows;
  /// Seconds of one run, absent when it failed.
  std::optional<double> seconds = std::nullopt;
};

/// Multiplications that a reference may cost: about a second on one core.
constexpr double reference_multiplications = 1e9;
/// Above this the host executor takes noticeably long.
constexpr double patient_multiplications = 4e9;

/// Bytes that a problem's operands take, with room for what they are compared with.
double bytes_of(const Problem& p) {
  const double out = stored_bytes(p.out, p.m, p.n);
  const double inputs = p.operation == Operation::gemm
                            ? stored_bytes(p.a, p.m, p.k) + stored_bytes(p.b, p.k, p.n)
                            : stored_bytes(p.a, p.m, p.n) * static_cast<double>(p.k);
  double all = inputs + 2 * out;
  for (const auto& extra : {p.residual, p.aux}) {
    if (extra) all += stored_bytes(*extra, p.m, p.n);
  }
  return all * static_cast<double>(std::max<std::int64_t>(p.batch, 1));
}

/// Refuses operands that this machine's memory cannot hold, before any is touched.
Status check_memory(const Problem& problem) {
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double needed = bytes_of(problem);
  if (needed <= 0.9 * memory) return {};
  return Status(StatusCode::device_error, "the operands need " + text_of(needed / (1 << 30), 1) +
                                              " GiB of host memory, this machine has " +
                                              text_of(memory / (1 << 30), 1));
}

/// The kernel of that name or config, with its controls for the problem.
Result<Candidate> named_kernel(const std::string& text, const Arguments& arguments,
                               const FindOptions& options) {
  const Result<Kernel> kernel = read_kernel(text);
  if (!kernel) return kernel.status();
  return candidate_of(*kernel, arguments, options);
}

/// The best kernel that can run, with a message where a better one cannot.
Result<Candidate> best_kernel(const Arguments& arguments, const Filter& filter, FindOptions options) {
  options.limit = 1;
  const CandidateList found = find_kernels(arguments, filter, options);
  if (options.availability == Availability::any) {
    if (found.empty()) return found.status();
    return found.front();
  }
  options.availability = Availability::any;
  const CandidateList all = find_kernels(arguments, filter, options);
  if (all.empty()) return all.status();
  if (found.empty()) {
    return Status(StatusCode::not_precompiled,
                  "none of the " + std::to_string(all.matched()) +
                      " kernels that match is precompiled for this device; the best is " +
                      std::string(all.front().name()));
  }
  if (found.front() != all.front()) {
    message("the best kernel, " + std::string(all.front().name()) +
            ", is not precompiled; taking the best that is, " + "predicted to take " +
            text_of(found.front().predicted_seconds() / all.front().predicted_seconds(), 2) +
            " times as long");
  }
  return found.front();
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
  const Arguments arguments = with(kernel.controls(), trial.arguments());
  const Result<Plan> plan = prepare(kernel, arguments);
  if (!plan) return plan.status();
  const Place place = trial.device ? Place::device : Place::host;
  const Result<TrialWorkspace> memory = TrialWorkspace::make(plan->workspace_size(), place);
  if (!memory) return memory.status();
  const PlanOperands operands = operands_of(arguments);
  if (place == Place::host) return time_on_host(*plan, operands, memory->workspace());
  return detail::median_seconds(used_device,
                                [&] { return plan->run(operands, nullptr, memory->workspace()); });
}

/// What can run: everything, but on a device without a compiler only what is precompiled.
Availability available_on(Place place) {
  const bool all = place == Place::host || detail::find_compiler(CompilerBackend::automatic);
  return all ? Availability::any : Availability::precompiled;
}

Result<Outcome> run_problem(const Problem& problem, const RunFlags& flags, const Filter& filter,
                            std::uint64_t seed, Place place, const DeviceModel& device) {
  const FindOptions options{.availability = available_on(place), .device = &device};
  const Arguments shape = arguments_of(problem);
  const Result<Candidate> kernel =
      flags.kernel.empty() ? best_kernel(shape, filter, options) : named_kernel(flags.kernel, shape, options);
  if (!kernel) return kernel.status();
  if (Status fits = check_memory(problem); !fits) return fits;
  if (place == Place::host && flops(problem) / 2 > patient_multiplications) {
    message("this takes a while on the host executor, which computes on the CPU what the kernel would");
  }
  Result<TrialProblem> trial = TrialProblem::make(problem, seed, place);
  if (!trial) return trial.status();
  const Result<host::Reference> reference =
      reference_of(trial->host, {.max_multiplications = reference_multiplications});
  if (!reference) return reference.status();
  Outcome outcome{problem,
                  seed,
                  place,
                  *kernel,
                  run_trial(*kernel, kernel->controls(), *trial, *reference),
                  static_cast<std::int64_t>(reference->rows.size())};
  if (!outcome.verdict.status) return outcome;
  const Result<double> seconds = time_kernel(*kernel, *trial);
  if (!seconds) return seconds.status();
  outcome.seconds = *seconds;
  return outcome;
}

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {{.name = "problem"},
                                          {.name = "kernel"},
                                          {.name = "mode", .in_table = false},
                                          {.name = "split_k"},
                                          {.name = "swizzle"},
                                          {.name = "raster", .in_table = false},
                                          {.name = "on"},
                                          {.name = "seed"},
                                          {.name = "rows_checked", .in_table = false},
                                          {.name = "error", .decimals = 6},
                                          {.name = "bound", .decimals = 6},
                                          {.name = "right"},
                                          {.name = "time_us"},
                                          {.name = "tflops", .decimals = 3}};
  return all;
}

Cell cell_of(const Outcome& outcome, std::size_t column) {
  const Controls& controls = outcome.kernel.controls();
  const bool ran = static_cast<bool>(outcome.verdict.status);
  if (outcome.problem.operation != Operation::gemm && column >= 2 && column <= 5) return {};  // controls
  switch (column) {
    case 0: return shape_text(outcome.problem);
    case 1: return std::string(outcome.kernel.name());
    case 2: return std::string(to_string(controls.mode.value_or(Mode::gemm)));
    case 3: return std::int64_t{controls.split_k_slices.value_or(1)};
    case 4: return std::int64_t{controls.swizzle.value_or(1)};
    case 5: return std::string(to_string(controls.raster.value_or(Raster::along_n)));
    case 6: return std::string(to_string(outcome.place));
    case 7: return static_cast<std::int64_t>(outcome.seed);
    case 8: return outcome.checked_rows;
    case 9: return ran ? Cell(outcome.verdict.comparison.error) : Cell();
    case 10: return ran ? Cell(outcome.verdict.comparison.bound) : Cell();
    case 11: return outcome.verdict.right();
    case 12: return outcome.seconds ? Cell(*outcome.seconds * 1e6) : Cell();
    default: return outcome.seconds ? Cell(flops(outcome.problem) / *outcome.seconds * 1e-12) : Cell();
  }
}

/// What a problem's time means: for products how many a second, for a reduction how much memory moves.
std::string speed_text(const Problem& problem, double seconds) {
  if (problem.operation == Operation::gemm) return text_of(flops(problem) / seconds * 1e-12, 3) + " TFLOP/s";
  return text_of(touched_bytes(problem) / seconds * 1e-9, 1) + " GB/s";
}

/// What went on, for a person.
void print_story(const Outcome& o) {
  const Controls& controls = o.kernel.controls();
  std::string text = "problem   " + command_text(o.problem) + "\n";
  text += "kernel    " + std::string(o.kernel.name()) + "\n";
  if (o.problem.operation == Operation::gemm) {
    text += "controls  mode " + std::string(to_string(controls.mode.value_or(Mode::gemm))) + ", split-K " +
            std::to_string(controls.split_k_slices.value_or(1)) + ", swizzle " +
            std::to_string(controls.swizzle.value_or(1)) + " " +
            std::string(to_string(controls.raster.value_or(Raster::along_n))) + "\n";
  }
  text += "ran on    ";
  text +=
      o.place == Place::device ? "the device" : "the host executor: the CPU, computing what the kernel would";
  text += "\nseed      " + std::to_string(o.seed) + "\n";
  if (!o.verdict.status) {
    text += "result    FAILED: " + o.verdict.status.message() + "\n";
  } else {
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "error %.3g, bound %.3g", o.verdict.comparison.error,
                  o.verdict.comparison.bound);
    text += std::string("result    ") + (o.verdict.right() ? "right: " : "WRONG: ") + numbers +
            ", against float64";
    if (o.checked_rows < o.problem.m) {
      text += ", " + std::to_string(o.checked_rows) + " of " + std::to_string(o.problem.m) + " rows";
    }
    text += "\n";
    if (!o.verdict.right()) text += "          " + o.verdict.reason() + "\n";
  }
  if (o.seconds) {
    text += "time      " + text_of(*o.seconds * 1e6, 2) + " us, " + speed_text(o.problem, *o.seconds) +
            (o.place == Place::host ? " on the CPU" : ", median of bursts") + "\n";
  }
  write_output(text);
}

int run(const RunFlags& flags) {
  const Result<Filter> filter = read_filter(flags.where);
  if (!filter) return report(filter.status());
  const Result<std::uint64_t> seed = read_seed(flags.seed);
  if (!seed) return report(seed.status());
  const Result<std::vector<Problem>> problems = read_problems(flags.problem);
  if (!problems) return report(problems.status());
  if (!flags.kernel.empty()) {
    if (const Result<Kernel> known = read_kernel(flags.kernel); !known) return report(known.status());
  }
  const Result<Place> place = read_place(flags.on);
  if (!place) return report(place.status());
  const Result<DeviceModel> device = read_device_model(flags.device_model);
  if (!device) return report(device.status());

  int exit = done;
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < problems->size(); ++i) {
    const Problem& problem = (*problems)[i];
    const std::uint64_t own_seed = problems->size() == 1 ? *seed : derived_seed(*seed, i);
    const Result<Outcome> outcome = run_problem(problem, flags, *filter, own_seed, *place, *device);
    if (!outcome) {
      exit = std::max(exit, report(Status(outcome.status().code(),
                                          shape_text(problem) + ": " + outcome.status().message())));
      continue;
    }
    if (!outcome->verdict.right()) {
      exit = std::max<int>(exit, failed);
      message(shape_text(problem) + ": " + std::string(outcome->kernel.name()) + ": " +
              outcome->verdict.reason());
    }
    outcomes.push_back(*outcome);
  }
  if (outcomes.size() == 1 && problems->size() == 1 && flags.listing.format == Format::table &&
      flags.listing.columns.empty()) {
    print_story(outcomes[0]);
    return exit;
  }
  if (outcomes.empty() && flags.listing.format == Format::table) return exit;
  const Status printed =
      print({.noun = "runs",
             .columns = columns(),
             .rows = outcomes.size(),
             .cell = [&](std::size_t row, std::size_t column) { return cell_of(outcomes[row], column); },
             .name_column = 1},
            flags.listing);
  return printed ? exit : report(printed);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<RunFlags>();
  CLI::App* command = add_command(
      app, "run",
      {.help = "Solve a random problem with the best kernel and check the result",
       .usage = "gemm MxNxK [TYPE] [FLAGS] | reduce_split_k SxMxN [TYPE] [FLAGS]",
       .examples = {"quarry run gemm 300x200x100 f16",
                    "quarry run gemm 300x200x100 --a f16:row --b f16:col --out f16:row:ld=208 --bias column "
                    "--activation gelu",
                    "quarry run gemm 64x64x2048 f32 --alpha 0.5 --beta 2 --seed 7 --on host --format json",
                    "quarry run reduce_split_k 6x300x200 f32 --out f16 --bias column --on host"},
       .notes = problem_notes});
  add_problem_flags(*command, flags->problem);
  command
      ->add_option("--kernel", flags->kernel,
                   "Run this kernel, not the best: a name, registered or not, or a config as JSON")
      ->type_name("NAME|JSON");
  add_where_flag(*command, flags->where);
  command
      ->add_option("--on", flags->on,
                   "host (the host executor) or device; otherwise the device where there is one")
      ->type_name("PLACE");
  command->add_option("--seed", flags->seed, "Seed of the random operands; otherwise a fresh one")
      ->type_name("N");
  add_device_model_flag(*command, flags->device_model);
  add_listing_flags(*command, flags->listing);
  command->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace quarry::command
