/// quarry run: solves a problem with the best kernel, or a named one, and checks the result.
#include <algorithm>

#include "lab/problems/seed.hpp"
#include "lab/text.hpp"
#include "lab/trials/solve.hpp"
#include "lab/trials/trial.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/problem_flags.hpp"
#include "tools/command/common/selection.hpp"
#include "tools/command/common/table.hpp"

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

const std::vector<Column>& run_columns() {
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

/// Whether the outputs were compared by norm, and not each by a bound of its own.
bool has_norm(const lab::Solved& outcome) {
  return outcome.verdict.status && outcome.verdict.comparison.known == 0;
}

/// How far off the outputs are, for a person.
std::string distance_text(const lab::Solved& outcome) {
  const lab::Comparison& c = outcome.verdict.comparison;
  char text[96];
  if (has_norm(outcome)) {
    std::snprintf(text, sizeof text, "error %.3g, bound %.3g", c.error, c.bound);
  } else if (c.outside == 0) {
    std::snprintf(text, sizeof text, "each of %lld values is within its own bound",
                  static_cast<long long>(c.known));
  } else {
    std::snprintf(text, sizeof text, "%lld of %lld values are beyond their own bounds",
                  static_cast<long long>(c.outside), static_cast<long long>(c.known));
  }
  return text;
}

Cell cell_of(const lab::Solved& outcome, std::size_t column) {
  const Controls& controls = outcome.kernel.controls();
  if (!has_controls(outcome.problem) && column >= 2 && column <= 5) return {};
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
    case 9: return has_norm(outcome) ? Cell(outcome.verdict.comparison.error) : Cell();
    case 10: return has_norm(outcome) ? Cell(outcome.verdict.comparison.bound) : Cell();
    case 11: return outcome.verdict.right();
    case 12: return outcome.seconds ? Cell(*outcome.seconds * 1e6) : Cell();
    default:
      return outcome.seconds.value_or(0) > 0 ? Cell(flops(outcome.problem) / *outcome.seconds * 1e-12)
                                             : Cell();
  }
}

/// What went on, for a person.
void print_story(const lab::Solved& o) {
  const Controls& controls = o.kernel.controls();
  std::string text = "problem   " + command_text(o.problem) + "\n";
  text += "kernel    " + std::string(o.kernel.name()) + "\n";
  if (has_controls(o.problem)) {
    text += "controls  mode " + std::string(to_string(controls.mode.value_or(Mode::gemm))) + ", split-K " +
            std::to_string(controls.split_k_slices.value_or(1)) + ", swizzle " +
            std::to_string(controls.swizzle.value_or(1)) + " " +
            std::string(to_string(controls.raster.value_or(Raster::along_n))) + "\n";
  }
  text += "ran on    ";
  text += o.place == lab::Place::device ? "the device"
                                        : "the host executor: the CPU, computing what the kernel would";
  text += "\nseed      " + std::to_string(o.seed) + "\n";
  if (!o.verdict.status) {
    text += "result    FAILED: " + o.verdict.status.message() + "\n";
  } else {
    text += std::string("result    ") + (o.verdict.right() ? "right: " : "WRONG: ") + distance_text(o) +
            ", against float64";
    if (o.checked_rows < o.all_rows) {
      text += ", " + std::to_string(o.checked_rows) + " of " + std::to_string(o.all_rows) + " rows";
    }
    text += "\n";
    if (!o.verdict.right()) text += "          " + o.verdict.reason() + "\n";
  }
  if (o.seconds) {
    text += "time      " + text_of(*o.seconds * 1e6, 2) + " us, " + speed_text(o.problem, *o.seconds) +
            (o.place == lab::Place::host ? " on the CPU" : ", median of bursts") + "\n";
  }
  write_output(text);
}

int run(const RunFlags& flags) {
  const Result<Filter> filter = read_filter(flags.where);
  if (!filter) return report(filter.status());
  const Result<std::uint64_t> seed = lab::read_seed(flags.seed);
  if (!seed) return report(seed.status());
  const Result<std::vector<lab::Problem>> problems = read_problems(flags.problem);
  if (!problems) return report(problems.status());
  if (Status s = check_listing(flags.listing, run_columns()); !s) return report(s);
  std::optional<Kernel> kernel;
  if (!flags.kernel.empty()) {
    const Result<Kernel> known = read_kernel(flags.kernel);
    if (!known) return report(known.status());
    kernel = *known;
  }
  const Result<lab::Place> place = lab::read_place(flags.on);
  if (!place) return report(place.status());
  const Result<DeviceModel> device = read_device_model(flags.device_model);
  if (!device) return report(device.status());

  int exit = done;
  const lab::SolveSetting setting{
      .place = *place, .device = *device, .filter = *filter, .kernel = kernel, .say = message};
  std::vector<lab::Solved> outcomes;
  for (std::size_t i = 0; i < problems->size(); ++i) {
    const lab::Problem& problem = (*problems)[i];
    const std::uint64_t own_seed = problems->size() == 1 ? *seed : lab::derived_seed(*seed, i);
    const Result<lab::Solved> outcome = lab::solve(problem, own_seed, setting);
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
  // Bad input has a message and no data; that there is no kernel is an answer, if an empty one.
  if (outcomes.empty() && (exit == usage || flags.listing.format == Format::table)) return exit;
  const Status printed =
      print({.noun = "runs",
             .columns = run_columns(),
             .rows = outcomes.size(),
             .cell = [&](std::size_t row, std::size_t column) { return cell_of(outcomes[row], column); },
             .name_column = 1},
            flags.listing);
  return printed ? exit : report(printed);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<RunFlags>();
  CLI::App* command = add_command(app, "run",
                                  {.help = "Solve a random problem with the best kernel and check the result",
                                   .usage = "OPERATION SHAPE [TYPE] [FLAGS]",
                                   .notes = problem_notes()});
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
