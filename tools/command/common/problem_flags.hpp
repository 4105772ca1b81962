/// The flags by which commands are told a problem.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lab/problems/settings.hpp"
#include "quarry/device_model.hpp"

namespace quarry::command {

struct ProblemFlags {
  /// Operation, shape and type, as far as given.
  std::vector<std::string> words;
  lab::SettingTexts settings;
  std::string shapes_file;
  /// Of a command that takes options of queries: add_query_flags.
  bool takes_options = false;
  bool batch_invariant = false;
  std::string max_workspace;
};

/// What the help of a command with these flags says of problems: the operations, with the shapes of each.
std::string problem_notes();

/// Adds the words of a problem, a flag for each setting, and --shapes.
void add_problem_flags(CLI::App& app, ProblemFlags& flags);

/// Adds --batch-invariant and --max-workspace, and lets problems of files have such options.
void add_query_flags(CLI::App& app, ProblemFlags& flags);

/// Adds a flag for each setting of problems but `type`, which keeps what is given in `settings`.
void add_setting_flags(CLI::App& app, lab::SettingTexts& settings);

/// The problems asked for, at least one, with their options.
Result<std::vector<lab::Problem>> read_problems(const ProblemFlags& flags);

/// The problems of a log that QUARRY_LOG_PROBLEMS made a program write, with the options of their lines. Says
/// how many lines are no problems. Fails with parse_error where flags say options, too.
Result<std::vector<lab::Problem>> read_logged_problems(const std::string& path, const ProblemFlags& flags);

/// Adds --device-model, read by read_device_model.
void add_device_model_flag(CLI::App& app, std::string& name);

/// The built-in model of this name; the library's choice where it is empty.
Result<DeviceModel> read_device_model(const std::string& name);

}  // namespace quarry::command
