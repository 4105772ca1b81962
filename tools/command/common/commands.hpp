/// The commands. Each adds itself to the application and, when the user chose it, leaves in `action` what to
/// do.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace quarry::command {

/// Does the work and gives the exit status.
using Action = std::function<int()>;

void add_list(CLI::App& app, Action& action);
void add_find(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_stats(CLI::App& app, Action& action);
void add_explore(CLI::App& app, Action& action);
void add_coverage(CLI::App& app, Action& action);
void add_pack(CLI::App& app, Action& action);
void add_warm_up(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_cache(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_help(CLI::App& app, Action& action);
/// In builds with the emulator only.
void add_emulate(CLI::App& app, Action& action);

/// What the words of a command line ask for: reads them, does it and gives the exit status. `argv[0]` is the
/// program's name. Never throws.
int run_command(int argc, char** argv);

/// How a command presents itself in its help.
struct Presentation {
  std::string help;
  /// What may follow the command's name, as in "[NAME...] [FLAGS]".
  std::string usage;
  /// Commands that work as they are, one a line: those that name no operation, whose own stand in front
  /// (lab::examples_of).
  std::vector<std::string> examples = {};
  /// More to say, in front of the examples; may be empty.
  std::string notes = {};
};

/// A new subcommand. Setting the callback is left to the caller.
CLI::App* add_command(CLI::App& app, const std::string& name, const Presentation& presentation);

}  // namespace quarry::command
