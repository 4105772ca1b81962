/// quarry tune: measures which kernels are the fastest, and keeps it in tables.
#include "tools/command/tune/tune.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "lab/text.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"

namespace quarry::command {
namespace {

constexpr const char* notes =
    "Measurements are added to the table as they are made. The same command goes on where a stopped one was. "
    "A problem that\n"
    "the table has is not measured again. Without -o the table is the one in the user's folder, which all "
    "programs use;\n"
    "they use others through QUARRY_TUNING=FILE. With QUARRY_LOG_PROBLEMS=FILE a program writes the problems "
    "that it asks\n"
    "about. In a Slurm job array, each task does its part. See docs/tuning.md.";

Status check_flags(const TuneFlags& flags) {
  constexpr auto bad = StatusCode::parse_error;
  const int modes = static_cast<int>(!flags.merge.empty()) + static_cast<int>(!flags.show.empty());
  if (modes > 1) return {bad, "--merge and --show are both given: leave one of them out"};
  if (!flags.export_folder.empty() && flags.merge.empty())
    return {bad, "--export takes the tables that --merge FILE... names"};
  if (!flags.export_folder.empty() && !flags.output.empty())
    return {bad, "--export writes into its folder: leave -o out"};
  if (!flags.merge.empty() && flags.export_folder.empty() && flags.output.empty())
    return {bad, "where to? --merge needs -o FILE"};
  if (!flags.svg.empty() && flags.show.empty()) return {bad, "--svg draws the table that --show FILE names"};
  if (!flags.log.empty() && !flags.problem.words.empty())
    return {bad, "a problem and --log are both given: leave one of them out"};
  if (!flags.log.empty() && !flags.problem.shapes_file.empty())
    return {bad, "--shapes and --log are both given: leave one of them out"};
  if (!flags.device_model.empty() && flags.times.empty() && flags.merge.empty())
    return {bad, "--device-model goes with --times: a device that is here is measured as it is"};
  return {};
}

/// What a flag is about.
enum class Subject { problems, measuring, device, table, pack, listing };

Subject subject_of(const CLI::Option& option) {
  const std::string& name = option.get_single_name();
  const std::string& group = option.get_group();
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (name == "device-model") return Subject::device;
  if (name == "target") return Subject::pack;
  if (group == "Measuring") return Subject::measuring;
  if (group == "Tables" || group.empty()) return Subject::table;
  return is_one_of({"columns", "sort", "limit", "format"}) ? Subject::listing : Subject::problems;
}

/// Refuses flags that what is asked for would not look at.
Status check_subjects(const TuneFlags& flags, const CLI::App& command) {
  const bool shows = !flags.show.empty();
  const bool exports = !flags.export_folder.empty();
  const bool merges = !flags.merge.empty();
  const auto is_looked_at = [&](const CLI::Option& option) {
    switch (subject_of(option)) {
      case Subject::problems:
      case Subject::device: return !shows && !exports;
      case Subject::measuring: return !shows && !merges;
      case Subject::pack: return exports;
      case Subject::listing: return shows;
      default: return !shows || option.get_single_name() != "output";
    }
  };
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || is_looked_at(*option)) continue;
    const bool is_flag = !option->get_lnames().empty();
    const std::string what = is_flag ? "--" + option->get_single_name() : "a problem";
    if (shows || merges)
      return {StatusCode::parse_error, what + " does not go with " +
                                           (shows     ? "--show"
                                            : exports ? "--export"
                                                      : "--merge")};
    return {StatusCode::parse_error,
            what + " goes with " + (subject_of(*option) == Subject::pack ? "--export" : "--show")};
  }
  return {};
}

int tune_command(const TuneFlags& flags, const CLI::App& command) {
  if (Status s = check_flags(flags); !s) return report(s);
  if (Status s = check_subjects(flags, command); !s) return report(s);
  if (!flags.show.empty()) return show_tuning(flags);
  if (!flags.export_folder.empty()) return export_tuning(flags);
  if (!flags.merge.empty()) return merge_tuning(flags);
  return tune_problems(flags);
}

void add_measuring_flags(CLI::App& command, TuneFlags& flags) {
  constexpr const char* group = "Measuring";
  const auto add = [&](const char* name, std::string& value, const char* help, const char* type) {
    command.add_option(name, value, help)->type_name(type)->group(group);
  };
  add("--budget", flags.budget, "Begin no problem after so many seconds", "SECONDS");
  command.add_flag("--again", flags.again, "Measure problems that the table has, too")->group(group);
  add("--shard", flags.shard, "Do part I (from 0) of N; otherwise all, or a Slurm array task's part", "I/N");
  add("--devices", flags.devices,
      "Use so many devices, or all: a process for each, which takes the next problem when free", "N|all");
  command.add_option("--queue", flags.queue)->group("");  // of processes that --devices starts
  add("--top", flags.top, "Time so many kernels, the predicted best ones (32)", "N");
  add("--prune", flags.prune, "Leave out kernels predicted to be slower than the best by this factor (3)",
      "X");
  add("--repeats", flags.repeats, "Bursts of each finalist (11)", "N");
  add("--gap-ms", flags.gap_ms, "Idle time before each burst with gaps (10)", "MS");
  add("--seed", flags.seed, "Seed of operands and order; otherwise a fresh one", "N");
  add("--times", flags.times, "Take times that bench --dump-times wrote, in place of a device", "FILE");
  add("--device-model", flags.device_model, "The device of --times: a100, h100 or h200", "NAME");
}

void add_table_flags(CLI::App& command, TuneFlags& flags) {
  constexpr const char* group = "Tables";
  command.add_option("-o,--output", flags.output, "The table that measurements are added to")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--merge", flags.merge,
                  "Add these tables to -o FILE, and name the problems of the command line that it lacks")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--export", flags.export_folder, "Merge into a folder, with a pack of the chosen kernels")
      ->type_name("FOLDER")
      ->group(group);
  command.add_option("--target", flags.targets, "Compute capabilities of the pack, as 90 or 80,90")
      ->type_name("CC")
      ->group(group);
  command.add_option("--show", flags.show, "List what a table chooses")->type_name("FILE")->group(group);
  command
      .add_option("--svg", flags.svg,
                  "With --show: draw the ranking's first choices beside the tuned kernels")
      ->type_name("FILE")
      ->group(group);
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<TuneFlags>();
  CLI::App* command = add_command(app, "tune",
                                  {.help = "Measure the best kernels and keep them in a table",
                                   .usage = "[OPERATION SHAPE [TYPE]] [FLAGS]",
                                   .notes = notes});
  add_problem_flags(*command, flags->problem);
  add_query_flags(*command, flags->problem);
  command->add_option("--log", flags->log, "Problems that QUARRY_LOG_PROBLEMS made a program write")
      ->type_name("FILE")
      ->group("Problem");
  command->add_option("--m", flags->m, "All M of a range, as 1..8192, in place of the shape's M")
      ->type_name("LOW..HIGH")
      ->group("Problem");
  add_table_flags(*command, *flags);
  add_measuring_flags(*command, *flags);
  add_listing_flags(*command, flags->listing);
  command->callback(
      [flags, command, &action] { action = [flags, command] { return tune_command(*flags, *command); }; });
}

}  // namespace quarry::command
