/// The flags by which find and run are told a problem.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "lab/problems/problem_settings.hpp"
#include "quarry/device_model.hpp"

namespace quarry::command {

struct ProblemFlags {
  /// Operation, shape and type, as far as given.
  std::vector<std::string> words;
  lab::SettingTexts settings;
  std::string shapes_file;
};

/// What the help of a command with these flags says of them.
inline constexpr const char* problem_notes =
    "A problem is z (MxN) = alpha * scale * A (MxK) x B (KxN) + beta * C + bias,\n"
    "out = clamp(activation(z) + residual). TYPE is the type of all operands. With reduce_split_k, S slices "
    "of\n"
    "partial sums (MxN) of that TYPE are added up in the place of A x B.\n"
    "OPERAND is TYPE[:row|col|row32|col32][:ld=N][:align=N][:array], of which any part may be left out:\n"
    "row-major, packed and aligned\n"
    "unless told. ld (elements from one row or column to the next) and align (of the pointer) count "
    "elements.\n"
    "An array holds a pointer to each matrix of a --batch, and promises that alignment.";

/// Adds `gemm MxNxK [TYPE] | ...`, a flag for each setting, and --shapes.
void add_problem_flags(CLI::App& app, ProblemFlags& flags);

/// The problems asked for, at least one.
Result<std::vector<lab::Problem>> read_problems(const ProblemFlags& flags);

/// Adds --device-model, read by read_device_model.
void add_device_model_flag(CLI::App& app, std::string& name);

/// The built-in model of this name; the library's choice where it is empty.
Result<DeviceModel> read_device_model(const std::string& name);

}  // namespace quarry::command
