/// Which paths kernels are run on, as flags; and which were met, as text and as JSON.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/verify/path_order.hpp"
#include "quarry/kernel.hpp"

namespace quarry::command {

/// Which random problems kernels are run on, as flags.
struct ProblemChoiceFlags {
  std::string problems;
  std::string path;
};
void add_problem_choice_flags(CLI::App& app, ProblemChoiceFlags& flags);

/// What the flags ask for; takes out of `kernels` those that have not the path.
Result<lab::ProblemChoice> read_problem_choice(const ProblemChoiceFlags& flags, std::vector<Kernel>& kernels);

/// "paths met: plain 54, bias_row 54, c 12 of 54\n" in lines of about 100 characters; empty where there are
/// none.
std::string paths_text(const lab::PathCounts& counts);

/// [{"path": "plain", "kernels": 54, "met": 54}, ...]
nlohmann::ordered_json paths_json(const lab::PathCounts& counts);

}  // namespace quarry::command
