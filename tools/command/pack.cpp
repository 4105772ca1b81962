/// quarry pack: compiles kernels into one file, and lists such a file.
#include "quarry/pack.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "lab/problems/kernel_problem.hpp"
#include "lab/problems/problem_text.hpp"
#include "lab/progress.hpp"
#include "lab/text.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/pack_targets.hpp"
#include "tools/command/common/problem_flags.hpp"
#include "tools/command/common/selection.hpp"
#include "tools/command/common/table.hpp"

namespace quarry::command {
namespace {

struct PackFlags {
  SelectionFlags selection;
  lab::SettingTexts settings;
  ListingFlags listing;
  std::string output;
  std::string list;
  std::string targets;
  std::string threads;
  bool force = false;
};

/// What could not be compiled.
struct Failure {
  std::string what;
  std::string why;
};

/// What is to become a pack.
struct Job {
  std::vector<Kernel> kernels;
  /// A problem of each kernel, with what is compiled in; empty: kernels as they are registered.
  std::vector<lab::Problem> problems = {};
  std::vector<int> targets;
  int threads = 0;
  bool force = false;
};

/// What became of it.
struct Packed {
  std::vector<Artifact> artifacts;
  std::vector<Failure> failures;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Refuses flags of problems where no expression is compiled in: a pack holds kernels for any problem.
Status check_settings(const lab::SettingTexts& settings) {
  if (settings.contains("epilogue")) return {};
  for (const auto& [flag, text] : settings) {
    if (flag != "with")
      return {StatusCode::parse_error,
              "--" + flag + " goes with --epilogue: quarry pack NAME --epilogue TEXT -o FILE"};
  }
  return {};
}

/// Makes a problem of each kernel, where flags say what is compiled in. Fails where a kernel does not take
/// it.
Status read_settings(const lab::SettingTexts& settings, Job& job) {
  if (settings.empty()) return {};
  for (const Kernel& kernel : job.kernels) {
    Result<lab::Problem> problem = lab::example_problem_for(kernel, settings);
    if (!problem) return problem.status();
    job.problems.push_back(*std::move(problem));
  }
  return {};
}

Result<Job> read_job(const PackFlags& flags) {
  constexpr auto bad = StatusCode::invalid_arguments;
  if (flags.selection.names.empty() && flags.selection.where.empty())
    return Status(bad, "which kernels? Give names, or --where, or --list FILE");
  if (flags.output.empty()) return Status(bad, "where to? Give -o FILE");
  if (Status s = check_settings(flags.settings); !s) return s;
  Job job{.kernels = {}, .targets = {}, .force = flags.force};
  if (!flags.threads.empty()) {
    const Result<std::int64_t> threads = lab::parse_integer("--threads", flags.threads, 1, 1024);
    if (!threads) return threads.status();
    job.threads = static_cast<int>(*threads);
  }
  Result<std::vector<int>> targets = read_targets(flags.targets);
  if (!targets) return targets.status();
  job.targets = *std::move(targets);
  Result<std::vector<Kernel>> kernels = read_selection(flags.selection);
  if (!kernels) return kernels.status();
  job.kernels = *std::move(kernels);
  if (job.kernels.empty()) return none_selected(flags.selection);
  if (Status s = read_settings(flags.settings, job); !s) return s;
  return job;
}

/// Refuses a file that cannot be written before anything is compiled for it.
Status check_output(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  std::error_code unknown;
  const bool is_folder = std::filesystem::is_directory(path, unknown);
  if (access(folder.c_str(), W_OK | X_OK) == 0 && !is_folder) return {};
  const std::string why = is_folder ? "it is a folder" : std::strerror(errno);
  return {StatusCode::file_error, "cannot write " + lab::quoted(path) + ": " + why};
}

/// The kernels that can run on a target, with their problems, and a message where some cannot.
struct Runnable {
  std::vector<Kernel> kernels;
  std::vector<lab::HeldArguments> problems;
};
Runnable runnable_part(const Job& job, int target) {
  Runnable runnable;
  for (std::size_t i = 0; i < job.problems.size(); ++i) {
    if (runs_on(job.kernels[i], target)) runnable.problems.push_back(arguments_of(job.problems[i]));
  }
  runnable.kernels = runnable_on(job.kernels, target);
  return runnable;
}

std::vector<Result<Artifact>> compile_all(const Job& job, const Runnable& runnable,
                                          const CompileOptions& options, const CompileProgress& progress) {
  if (job.problems.empty()) return compile_for_pack(runnable.kernels, options, progress, job.threads);
  const std::vector<Arguments> problems(runnable.problems.begin(), runnable.problems.end());
  return compile_for_pack(runnable.kernels, problems, options, progress, job.threads);
}

void compile_for(const Job& job, int target, lab::Progress& progress, Packed& packed) {
  const Runnable runnable = runnable_part(job, target);
  const std::vector<Kernel>& kernels = runnable.kernels;
  std::size_t before = 0;
  const auto advance = [&](std::size_t done, std::size_t, const Kernel&) {
    progress.advance(done - before);
    before = done;
  };
  const auto results = compile_all(job, runnable, {.target = target, .force = job.force}, advance);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i]) {
      packed.artifacts.push_back(*results[i]);
      continue;
    }
    const std::string what = i < kernels.size() ? std::string(kernels[i].name()) : "a reduction";
    packed.failures.push_back(
        {what + " for " + capability_text(target), first_line(results[i].status().message())});
  }
}

/// Each reason once, with the first thing that it befell.
void print_failures(const std::vector<Failure>& failures) {
  std::map<std::string, std::vector<const Failure*>> by_reason;
  for (const Failure& failure : failures) by_reason[failure.why].push_back(&failure);
  for (const auto& [why, befallen] : by_reason) {
    const std::size_t others = befallen.size() - 1;
    message("cannot compile " + befallen[0]->what +
            (others > 0 ? " and " + std::to_string(others) + (others > 1 ? " others" : " other") : "") +
            ": " + why);
  }
}

std::string summary(const std::string& path, const Job& job, const Packed& packed, double seconds) {
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(path, unknown);
  std::string targets;
  for (const int target : job.targets) targets += (targets.empty() ? "" : ", ") + capability_text(target);
  // Kernels that are each other's transposition share one.
  std::set<std::pair<std::string_view, int>> distinct;
  for (const Artifact& artifact : packed.artifacts) distinct.insert({artifact.entry(), artifact.target()});
  char duration[32];
  std::snprintf(duration, sizeof duration, "%.1f s", seconds);
  return lab::quoted(path) + ": " + counted(job.kernels.size(), "kernel") + " as " +
         counted(distinct.size(), "artifact") + " for " + targets + ", " +
         std::to_string(unknown ? 0 : bytes) + " bytes, " + duration + "\n";
}

int make_pack(const PackFlags& flags) {
  const Result<Job> job = read_job(flags);
  if (!job) return report(job.status());
  if (Status s = check_output(flags.output); !s) return report(s);
  const auto start = std::chrono::steady_clock::now();
  Packed packed;
  {
    lab::Progress progress("pack", job->kernels.size() * job->targets.size());
    for (const int target : job->targets) compile_for(*job, target, progress, packed);
  }
  print_failures(packed.failures);
  if (!packed.failures.empty()) {
    message("no pack was written");
    return failed;
  }
  if (packed.artifacts.empty()) return report(Status(StatusCode::filtered_out, "there is nothing to pack"));
  if (Status s = write_pack(packed.artifacts, flags.output); !s) return report(s);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  write_output(summary(flags.output, *job, packed, seconds.count()));
  return done;
}

int list_pack(const PackFlags& flags) {
  if (!flags.settings.empty()) {
    return report(Status(StatusCode::invalid_arguments,
                         "--" + flags.settings.begin()->first + " does not go with --list"));
  }
  if (!flags.selection.names.empty() || !flags.selection.where.empty() || !flags.output.empty())
    return report(Status(StatusCode::invalid_arguments, "--list goes with no names, --where or -o"));
  const Result<std::vector<Artifact>> artifacts = read_pack(flags.list);
  if (!artifacts) return report(artifacts.status());
  const auto cell = [&](std::size_t row, std::size_t column) -> Cell {
    const Artifact& artifact = (*artifacts)[row];
    const CodeResources& resources = artifact.resources();
    switch (column) {
      case 0: return std::string(artifact.entry());
      case 1: return std::int64_t{artifact.target()};
      case 2: return static_cast<std::int64_t>(artifact.code().size());
      case 3: return resources.registers > 0 ? Cell(std::int64_t{resources.registers}) : Cell();
      case 4: return resources.registers > 0 ? Cell(std::int64_t{resources.spill_bytes}) : Cell();
      default: return std::string(artifact.compiler());
    }
  };
  const Status printed = print({.noun = "artifacts",
                                .columns = {{.name = "entry"},
                                            {.name = "target"},
                                            {.name = "bytes"},
                                            {.name = "registers"},
                                            {.name = "spill_bytes"},
                                            {.name = "compiler", .in_table = false}},
                                .rows = artifacts->size(),
                                .cell = cell},
                               flags.listing);
  return printed ? static_cast<int>(done) : report(printed);
}

}  // namespace

void add_pack(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<PackFlags>();
  CLI::App* command = add_command(
      app, "pack",
      {.help = "Compile kernels into one file, for programs that must not compile",
       .usage = "[NAME...] [FLAGS]",
       .examples =
           {"quarry pack --where 'family == gemm_simt and a.dtype == f64 and tile.m == 64' -o simt.pack",
            "quarry pack --list best.pack",
            "quarry pack gemm_simt_f32_f32_f32_f32_rcr_64x64x16_t4x4 --epilogue 'out = gelu(sum)' -o "
            "gelu.pack"},
       .notes =
           "A program loads it with quarry::load_pack, or by QUARRY_PACKS=FILE:FILE... in its environment. "
           "A pack belongs to one\n"
           "version of the library. If a kernel cannot be compiled, no file is written. Precompiled kernels "
           "are "
           "compiled\n"
           "again. The pack also holds the reductions that split-K kernels need.\n"
           "With --epilogue, the kernels are compiled with this expression, and the pack holds them with it "
           "alone."});
  add_selection_flags(*command, flags->selection);
  command->add_option("-o,--output", flags->output, "File to write")->type_name("FILE");
  command
      ->add_option("--target", flags->targets,
                   "Compute capabilities, as 80,90 (default: the device's, or 90 without a device)")
      ->type_name("CC,...");
  command->add_option("--threads", flags->threads, "Kernels compiled at a time; otherwise one a processor")
      ->type_name("N");
  command->add_flag("--force", flags->force, "Compile what is in the cache, too");
  command->add_option("--list", flags->list, "Show what is in this pack")->type_name("FILE");
  add_listing_flags(*command, flags->listing);
  add_setting_flags(*command, flags->settings);
  command->callback([flags, &action] {
    action = [flags] { return flags->list.empty() ? make_pack(*flags) : list_pack(*flags); };
  });
}

}  // namespace quarry::command
