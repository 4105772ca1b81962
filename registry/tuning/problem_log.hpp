/// The problems that a program asks about, for `quarry tune`: with QUARRY_LOG_PROBLEMS=FILE, each new problem
/// becomes a line of the file, in the words of the command line.
#pragma once

#include <string>
#include <string_view>

#include "registry/tuning/measurement.hpp"

namespace quarry::detail {

/// Whether the environment asks for a log. A few nanoseconds.
bool logs_problems();

/// Whether a problem is asked about for the first time in this process; from then on it is known. False where
/// so many are known that no more are logged.
bool is_new_problem(const TuningKey& key);

/// Appends a line. Where that fails, a warning is printed and logging ends. Safe from any thread, and beside
/// other processes that log into the same file.
void log_problem(std::string_view operation, const std::string& words);

}  // namespace quarry::detail
