/// Times from a file in place of a device, for tests of tuning and for simulations.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/tune/meter.hpp"

namespace quarry::lab {

/// What was recorded of one problem.
struct RecordedProblem {
  std::vector<KernelTime> kernels;
  /// Seconds that measuring took.
  double cost = 0;
};

/// By the problems' command_text.
using RecordedProblems = std::map<std::string, RecordedProblem>;

/// What a file holds.
struct RecordedFile {
  RecordedProblems problems;
  /// The last line is cut short, as by a process that was killed, and was skipped.
  bool is_cut = false;
};

/// Reads a file of JSON lines, as `quarry bench --dump-times` writes them: `command` (the problem in the
/// words of the command line), `kernel`, its controls and `measured_us`, and perhaps `predicted_us`,
/// `back_to_back_us` and `cost_s`, the seconds that this kernel's measurement took. A last line that
/// has no newline and cannot be read is skipped. Fails with parse_error, and names the file and the line,
/// where another line is something else.
Result<RecordedFile> read_recorded_times(const std::string& path);

/// Answers from records. Its clock goes on by the costs of the problems that were measured.
class RecordedTimes : public Meter {
 public:
  /// @param device the records are of it; outlives this
  RecordedTimes(RecordedProblems problems, const DeviceModel& device)
      : problems_(std::move(problems)), device_(device) {}

  void expect(std::vector<Problem>) override {}
  /// Fails with not_found for a problem that was not recorded, and with unsupported where no kernel of the
  /// records takes it.
  Result<std::vector<KernelTime>> measure(const Problem& problem) override;
  double now() override { return now_; }

 private:
  RecordedProblems problems_;
  const DeviceModel& device_;
  double now_ = 0;
};

}  // namespace quarry::lab
