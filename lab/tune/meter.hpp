/// What measures kernels for a tuning: a device, or times that were recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/problems/problem.hpp"
#include "quarry/controls.hpp"
#include "quarry/device_model.hpp"
#include "registry/tuning/measurement.hpp"

namespace quarry::lab {

/// How long a kernel takes for a problem.
struct KernelTime {
  std::string kernel;
  /// As the kernel was run.
  Controls controls;
  std::uint64_t workspace = 0;
  detail::TuningTimes gaps_us = {};
  std::optional<detail::TuningTimes> load_us = std::nullopt;
  /// What the ranking predicted, where a record says it.
  std::optional<double> predicted_us = std::nullopt;
};

class Meter {
 public:
  Meter() = default;
  virtual ~Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  /// Says which problems come next, in this order, so that their kernels can be compiled ahead.
  virtual void expect(std::vector<Problem> problems) = 0;
  /// Measures kernels whose results are right, one at least. After a failure the next problem is measured;
  /// two failures with device_error, one after the other, end a tuning.
  virtual Result<std::vector<KernelTime>> measure(const Problem& problem) = 0;
  /// Seconds since some moment, by the clock that a budget counts.
  virtual double now() = 0;
};

}  // namespace quarry::lab
