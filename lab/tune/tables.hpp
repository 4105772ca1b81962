/// Tables as people look at them: what a table chooses, merging, and what a fleet needs of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/problems/problem.hpp"
#include "quarry/device_model.hpp"
#include "quarry/kernel.hpp"
#include "registry/tuning/table.hpp"

namespace quarry::lab {

/// The name under which tables hold measurements of a device.
std::string tuning_device(const DeviceModel& model);
/// The digest of this library's kernel sources, as tables name it.
std::string tuning_sources();

/// What a table chooses for one problem on one device.
struct TunedRow {
  std::string problem;
  std::string device;
  std::int64_t m = 0;
  /// Of the interval (above, m]; m - 1: the problem alone.
  std::int64_t above = 0;
  /// The fastest one that this library has and that takes the problem, as queries choose; where there is no
  /// such kernel, the fastest one.
  std::string kernel;
  Controls controls;
  double gaps_us = 0;
  std::optional<double> load_us;
  /// The time with gaps of the kernel that the ranking predicts to be the fastest, where it was measured.
  std::optional<double> first_us;
  std::uint64_t workspace = 0;
  /// Measurements of the problem.
  std::size_t measurements = 0;
  /// Whether this library uses it: of its sources, and of a kernel that it has and that takes the problem.
  bool usable = false;
};

/// By device and problem: a row for each problem, and for each state of the sources.
std::vector<TunedRow> tuned_rows(const detail::TuningTable& table);

/// A chart of the first choices' speed beside the speed of the kernels that tables choose: SVG. Rows without
/// first_us are left out.
std::string tuning_svg(std::span<const TunedRow> rows);

/// Lines of tables that this library does not read.
struct OddLines {
  std::size_t damaged = 0;  ///< left out of a union
  std::size_t future = 0;   ///< of a later version, which a union keeps as they are
};

/// Adds the tables of files to the table of `output`, which is made where it is missing, and writes its
/// index. Fails, with nothing changed, where one cannot be read or the output cannot be written.
/// @param odd lines of the files and of the output that are no measurements
Result<detail::TuningTable> merge_tables(std::span<const std::string> paths, const std::string& output,
                                         OddLines& odd);

/// The table of a file.
Result<detail::TuningTable> read_tuning_table(const std::string& path);

/// Measurements that this library cannot use, each under its first reason.
struct UnusableMeasurements {
  std::size_t other_sources = 0;
  std::size_t unknown_kernels = 0;
};
UnusableMeasurements unusable_in(const detail::TuningTable& table);

/// A kernel that a table chooses.
struct ChosenKernel {
  Kernel kernel;
  /// A problem whose expression is compiled into it; absent: the kernel as it is registered.
  std::optional<Problem> problem;
};

/// The kernels that a table chooses and this library uses: each once for each expression and its types.
std::vector<ChosenKernel> chosen_kernels(const detail::TuningTable& table);

}  // namespace quarry::lab
