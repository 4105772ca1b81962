/// Tuning: measures problems that a table does not have yet, and adds them to it as it goes.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/tune/meter.hpp"
#include "lab/tune/tasks.hpp"
#include "registry/tuning/table.hpp"

namespace quarry::lab {

/// How far a tuning is.
struct TuneProgress {
  /// Tasks that are done, of how many.
  std::size_t done = 0;
  std::size_t all = 0;
  /// By the time that tasks took so far; absent before the first one.
  std::optional<double> seconds_left;
  /// Of a range of M that is not done: how many of its values were measured, and the last one.
  std::size_t values = 0;
  std::optional<Problem> last_value = std::nullopt;
};

struct TuneReport {
  /// Problems that were measured (of a range: values of M), tasks that the table had already, tasks that
  /// failed, and tasks that were not begun or not finished.
  std::size_t measured = 0;
  std::size_t known = 0;
  std::size_t failed = 0;
  std::size_t left = 0;
  bool is_stopped = false;
  bool is_over_budget = false;

  /// Whether the budget ended before anything was measured that there was to measure.
  bool has_nothing() const { return is_over_budget && measured == 0 && failed == 0 && left > 0; }
};

/// One of several tunings side by side, that take tasks from one list.
struct Sharing {
  struct Taken {
    /// The task's number among all, and its place in the list.
    std::size_t task = 0;
    std::size_t place = 0;
  };
  /// Takes the next task for this tuning; absent where none is left.
  std::function<std::optional<Taken>()> take;
  /// Tasks whose kernels this tuning compiles ahead: each is one tuning's, whoever comes to measure it. What
  /// one has compiled, the others find in the cache on disk.
  std::vector<std::size_t> ahead;
  /// Told what became of this tuning, at its end.
  std::function<void(const TuneReport&)> report;
};

struct TuneSetting {
  /// The file that measurements are added to.
  std::string table;
  /// The device's name (detail::tuning_device), and the digest of the kernels' sources.
  std::string device;
  std::string sources;
  /// Measure problems that the table has, too.
  bool again = false;
  /// No task begins after so many seconds of the meter's clock.
  std::optional<double> budget_seconds;
  /// Absent: all tasks are this tuning's, in their order.
  std::optional<Sharing> sharing;
  /// Seconds since 1970, asked behind each problem and kept with its measurements; absent: 0, unknown.
  std::function<std::int64_t()> date;
  /// Whether somebody asked to stop; asked before each problem.
  std::function<bool()> is_stopped;
  /// Says what a person should know.
  std::function<void(const std::string&)> say;
  std::function<void(const TuneProgress&)> progress;
};

/// Each task once, in the order of the first ones.
std::vector<TuneTask> distinct(std::span<const TuneTask> tasks);

/// Measures the tasks in their order, or those that it takes. Who stops takes all others, to count them as
/// left: tasks are shared among tunings that stop together. Measurements of each problem are added to the
/// table at once, so that a tuning that was killed goes on where it was. Fails where the table cannot be read
/// or written, before anything is measured if that is known then, and where the device fails.
Result<TuneReport> tune(std::span<const TuneTask> tasks, Meter& meter, const TuneSetting& setting);

/// The tasks that a table has no measurements of (of a range: not all), made on this device with these
/// sources. If `device` is empty, any one device may have made them.
std::vector<TuneTask> missing_tasks(std::span<const TuneTask> tasks, const detail::TuningTable& table,
                                    const std::string& device, const std::string& sources);

}  // namespace quarry::lab
