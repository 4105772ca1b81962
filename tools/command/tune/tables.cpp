// Tuning tables on the command line: merging, exporting, showing.
#include <algorithm>
#include <filesystem>
#include <set>

#include "lab/output_file.hpp"
#include "lab/progress.hpp"
#include "lab/text.hpp"
#include "lab/tune/tables.hpp"
#include "lab/tune/tuner.hpp"
#include "quarry/pack.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/pack_targets.hpp"
#include "tools/command/tune/tune.hpp"

namespace quarry::command {
namespace {

/// What a union made of lines that are no measurements.
void say_odd(const lab::OddLines& odd) {
  if (odd.damaged > 0) message(counted(odd.damaged, "damaged line") + " left out");
  if (odd.future > 0) message(counted(odd.future, "line") + " of a later version kept as it was written");
}

/// What is not shown of a table.
void say_skipped(const detail::TuningTable& table) {
  const std::size_t all = table.damaged() + table.future();
  if (all == 0) return;
  message(counted(all, "line") + " skipped: " + std::to_string(table.damaged()) + " damaged, " +
          std::to_string(table.future()) + " of a later version");
}

/// Why measurements of a table are not used.
void say_unusable(const detail::TuningTable& table) {
  const lab::UnusableMeasurements unusable = lab::unusable_in(table);
  const auto say = [](std::size_t count, const char* of) {
    if (count > 0) message(counted(count, "measurement") + (count == 1 ? " is of " : " are of ") + of);
  };
  say(unusable.other_sources, "other kernel sources");
  say(unusable.unknown_kernels, "unknown kernels");
}

/// Names the tasks that the table has no measurements of.
void print_missing(const std::vector<lab::TuneTask>& tasks, const std::vector<lab::TuneTask>& missing) {
  for (const lab::TuneTask& task : missing) write_output("missing: " + lab::task_text(task) + "\n");
  write_output(std::to_string(tasks.size() - missing.size()) + " of " + counted(tasks.size(), "problem") +
               " measured, " + std::to_string(missing.size()) + " missing\n");
}

/// Merges into a file. @param table on success what it holds
int merge_into(const TuneFlags& flags, const std::string& output, detail::TuningTable& table) {
  lab::OddLines odd;
  Result<detail::TuningTable> merged = lab::merge_tables(flags.merge, output, odd);
  if (!merged) return report(merged.status());
  table = *std::move(merged);
  say_odd(odd);
  write_output(lab::quoted(output) + ": " + counted(table.size(), "measurement") + " of " +
               counted(lab::tuned_rows(table).size(), "problem") + "\n");
  return done;
}

/// What a pack of chosen kernels holds.
struct Packed {
  std::vector<Artifact> artifacts;
  std::set<std::string_view> kernels;
};

/// Compiles kernels as they are registered, or with the expressions of problems, one for each kernel. Reports
/// those that could not be compiled.
void compile_part(const std::vector<Kernel>& kernels, const std::vector<lab::HeldArguments>& problems,
                  int target, Packed& packed, int& exit) {
  if (kernels.empty()) return;
  lab::Progress progress("compile", kernels.size());
  std::size_t before = 0;
  const auto advance = [&](std::size_t now, std::size_t, const Kernel&) {
    progress.advance(now - before);
    before = now;
  };
  const std::vector<Arguments> arguments(problems.begin(), problems.end());
  const auto results = problems.empty() ? compile_for_pack(kernels, {.target = target}, advance)
                                        : compile_for_pack(kernels, arguments, {.target = target}, advance);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i]) {
      packed.artifacts.push_back(*results[i]);
      if (i < kernels.size()) packed.kernels.insert(kernels[i].name());
      continue;
    }
    progress.clear();
    const std::string what = i < kernels.size() ? std::string(kernels[i].name()) : "a reduction";
    exit = std::max(exit,
                    report(Status(results[i].status().code(), what + ": " + results[i].status().message())));
  }
}

/// Compiles those that can run on a target.
void compile_chosen(const std::vector<lab::ChosenKernel>& chosen, int target, Packed& packed, int& exit) {
  std::vector<Kernel> plain;
  std::vector<Kernel> expressed;
  std::vector<lab::HeldArguments> problems;
  for (const lab::ChosenKernel& each : chosen) {
    if (!each.problem) {
      plain.push_back(each.kernel);
    } else if (runs_on(each.kernel, target)) {
      expressed.push_back(each.kernel);
      problems.push_back(arguments_of(*each.problem));
    }
  }
  compile_part(runnable_on(plain, target), {}, target, packed, exit);
  compile_part(expressed, problems, target, packed, exit);
}

Cell number(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }
template <class Word>
Cell word(const std::optional<Word>& value) {
  return value ? Cell(std::string(to_string(*value))) : Cell();
}
Cell count(const std::optional<int>& value) {
  return value ? Cell(static_cast<std::int64_t>(*value)) : Cell();
}

struct ShownColumn {
  Column column;
  Cell (*cell)(const lab::TunedRow& row);
};

const std::vector<ShownColumn>& shown_columns() {
  using R = const lab::TunedRow&;
  static const std::vector<ShownColumn> columns = {
      {{.name = "problem"}, [](R r) -> Cell { return r.problem; }},
      {{.name = "above"}, [](R r) { return r.above < r.m - 1 ? Cell(r.above) : Cell(); }},
      {{.name = "kernel"}, [](R r) -> Cell { return r.kernel; }},
      {{.name = "us"}, [](R r) -> Cell { return r.gaps_us; }},
      {{.name = "load_us"}, [](R r) { return number(r.load_us); }},
      {{.name = "first_us", .in_table = false}, [](R r) { return number(r.first_us); }},
      {{.name = "mode"}, [](R r) { return word(r.controls.mode); }},
      {{.name = "split_k"}, [](R r) { return count(r.controls.split_k_slices); }},
      {{.name = "swizzle"}, [](R r) { return count(r.controls.swizzle); }},
      {{.name = "raster", .in_table = false}, [](R r) { return word(r.controls.raster); }},
      {{.name = "workspace", .in_table = false},
       [](R r) -> Cell { return static_cast<std::int64_t>(r.workspace); }},
      {{.name = "m", .in_table = false}, [](R r) -> Cell { return r.m; }},
      {{.name = "measurements", .in_table = false},
       [](R r) -> Cell { return static_cast<std::int64_t>(r.measurements); }},
      {{.name = "device", .in_table = false}, [](R r) -> Cell { return r.device; }},
      {{.name = "usable", .in_table = false}, [](R r) -> Cell { return r.usable; }},
  };
  return columns;
}

bool has_several_devices(const std::vector<lab::TunedRow>& rows) {
  return std::ranges::any_of(rows,
                             [&](const lab::TunedRow& row) { return row.device != rows.front().device; });
}

}  // namespace

int merge_tuning(const TuneFlags& flags) {
  std::vector<lab::TuneTask> tasks;
  std::string device;
  if (names_problems(flags)) {
    const Result<std::vector<lab::TuneTask>> read = read_tasks(flags);
    if (!read) return report(read.status());
    tasks = *read;
  }
  if (!flags.device_model.empty()) {
    const Result<DeviceModel> model = read_device_model(flags.device_model);
    if (!model) return report(model.status());
    device = lab::tuning_device(*model);
  }
  detail::TuningTable table;
  if (const int exit = merge_into(flags, flags.output, table); exit != done) return exit;
  if (tasks.empty()) {
    say_unusable(table);
    return done;
  }
  const auto missing = lab::missing_tasks(tasks, table, device, lab::tuning_sources());
  print_missing(tasks, missing);
  say_unusable(table);
  return missing.empty() ? done : failed;
}

int export_tuning(const TuneFlags& flags) {
  const Result<std::vector<int>> targets = read_targets(flags.targets);
  if (!targets) return report(targets.status());
  const std::filesystem::path folder = flags.export_folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder))
    return report(Status(StatusCode::file_error, "cannot make the folder " + lab::quoted(folder.string())));
  detail::TuningTable table;
  if (const int exit = merge_into(flags, folder / "tuning.jsonl", table); exit != done) return exit;
  const std::vector<lab::ChosenKernel> kernels = lab::chosen_kernels(table);
  say_unusable(table);
  int exit = done;
  Packed packed;
  for (const int target : *targets) compile_chosen(kernels, target, packed, exit);
  if (kernels.empty())
    return report(Status(StatusCode::filtered_out, "this library uses no measurement of the table: no pack"));
  if (packed.kernels.empty())
    return report(Status(StatusCode::filtered_out, "no kernel of the table could be compiled: no pack"));
  const std::string pack = folder / "kernels.pack";
  if (Status written = write_pack(packed.artifacts, pack); !written) return report(written);
  write_output(lab::quoted(pack) + ": " + counted(packed.artifacts.size(), "artifact") + " of " +
               counted(packed.kernels.size(), "kernel") + "\n");
  return exit;
}

int show_tuning(const TuneFlags& flags) {
  const Result<detail::TuningTable> table = lab::read_tuning_table(flags.show);
  if (!table) return report(table.status());
  const std::vector<lab::TunedRow> rows = lab::tuned_rows(*table);
  if (!flags.svg.empty()) {
    if (Status s = lab::write_file(flags.svg, lab::tuning_svg(rows)); !s) return report(s);
  }
  Listing listing{
      .noun = "choices",
      .columns = {},
      .rows = rows.size(),
      .cell = [&](std::size_t row, std::size_t column) { return shown_columns()[column].cell(rows[row]); },
      .name_column = 2};
  for (const ShownColumn& each : shown_columns()) listing.columns.push_back(each.column);
  for (Column& column : listing.columns) {
    if (column.name == "device") column.in_table = has_several_devices(rows);
    if (column.name == "usable") column.in_table = !std::ranges::all_of(rows, &lab::TunedRow::usable);
  }
  if (Status s = print(listing, flags.listing); !s) return report(s);
  say_skipped(*table);
  say_unusable(*table);
  return done;
}

}  // namespace quarry::command
