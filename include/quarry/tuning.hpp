/// Tuning tables: measured choices, kept in files, that come before the ranking. `quarry tune` makes them.
///
/// When a problem is first asked about, the library loads the tables that the environment variable
/// QUARRY_TUNING names (FILE:FILE..., or `off`), and without it the table in the user's folder,
/// $XDG_CONFIG_HOME/quarry/tuning.jsonl or ~/.config/quarry/tuning.jsonl, if there is one. A table that
/// cannot be used is skipped with a warning on standard error.
///
/// For a problem that was measured on the device of the query, get_kernels and find_best return the fastest
/// measured kernel first (Candidate::measured_seconds). That is the choice for exactly this problem,
/// otherwise the choice for an interval of M that the problem is in. A kernel that does not support the
/// problem, or that the filter or the options leave out, is never chosen; the next measured one is.
#pragma once

#include <cstddef>
#include <string>

#include "quarry/status.hpp"

namespace quarry {

/// What is in a tuning table, and how much of it this process can use.
struct TuningSummary {
  /// Measurements that can be used, and all others: made with other kernel sources than this library's, on
  /// devices that this machine does not have (counted only if it has devices), of kernels that this library
  /// does not have, lines of a later version, and damaged lines.
  std::size_t usable = 0;
  std::size_t other_sources = 0;
  std::size_t other_devices = 0;
  std::size_t unknown_kernels = 0;
  std::size_t future_lines = 0;
  std::size_t damaged_lines = 0;
  /// Whether the index beside the table was read instead of the table.
  bool from_index = false;

  std::size_t skipped() const {
    return other_sources + other_devices + unknown_kernels + future_lines + damaged_lines;
  }
};

/// How many measurements are skipped and why, in one line; empty if none is skipped.
std::string to_string(const TuningSummary& summary);

/// Adds a tuning table to the tables of this process. Remembered answers are not used any more. Fails
/// with file_error if the file cannot be read, and with parse_error if it is not a tuning table; then nothing
/// changes. Measurements that cannot be used are skipped and counted. Safe from any thread, also while others
/// query. The memory of tables that were replaced is kept to the end of the process.
Result<TuningSummary> load_tuning(const std::string& path);

/// Forgets all tuning tables, including the tables of the environment.
void clear_tuning();

/// The table in the user's folder, which is loaded without QUARRY_TUNING; empty if there is no such folder.
std::string user_tuning_path();

}  // namespace quarry
