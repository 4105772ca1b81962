/// The benchmark of one problem: who takes part, who stays, how fast they are.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "lab/bench/result.hpp"
#include "lab/bench/yardstick.hpp"
#include "lab/bench/yardstick_library.hpp"
#include "lab/device/device_buffer.hpp"
#include "quarry/registry.hpp"

namespace quarry::lab {

struct BenchOptions {
  /// Kernels to time, the predicted best ones.
  std::size_t top = 16;
  /// Kernels that are timed with other controls, too: the fastest ones with their own.
  std::size_t vary = 4;
  /// This one alone.
  std::optional<Kernel> kernel = std::nullopt;
  Availability availability = Availability::any;
  /// Bursts of each finalist under each load.
  int repeats = 11;
  std::chrono::milliseconds gap{10};
  /// As PrepareOptions::overlap.
  bool overlap = true;
  YardstickOptions yardstick = {};
};

/// What problems share.
struct BenchSetting {
  const Filter& filter;
  const BenchOptions& options;
  const DeviceModel& device;
  /// What the problems' operation is measured by (OperationLab::library).
  const YardstickKind& kind;
  /// Null: it does not take part. It takes part in problems of operations that it has.
  const YardstickLibrary* library;
  /// Bytes of bench_workspace on the used device.
  const DeviceBuffer& workspace;
  /// Says what a person should know, while it runs.
  std::function<void(const std::string&)> say;
};

/// Times a problem. Kernels that are wrong or refuse are said and left out; fails where none is left, and
/// where the device fails.
Result<BenchResult> bench_shape(const Problem& problem, std::uint64_t seed, const BenchSetting& setting);

}  // namespace quarry::lab
