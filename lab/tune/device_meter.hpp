/// Measuring on the used device, as `quarry bench` does.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lab/bench/shape.hpp"
#include "lab/tune/meter.hpp"

namespace quarry::lab {

struct DeviceMeterOptions {
  BenchOptions bench;
  /// Kernels whose predicted time is longer than the best one's by more than this factor are not measured.
  double prune = 3;
  std::uint64_t seed = 0;
};

/// Kernels of a problem that are measured: those that bench would take, less those that are predicted to be
/// far too slow. Fails where no kernel takes the problem.
Result<std::vector<Kernel>> kernels_to_measure(const Problem& problem, const DeviceMeterOptions& options,
                                               const DeviceModel& device);

/// Compiles the kernels of problems one after the other, on all processors but one, beside the thread that
/// measures.
class CompileAhead {
 public:
  /// @param kernels_of the kernels of a problem that may have to be compiled
  /// @param device copied
  CompileAhead(std::vector<Problem> problems, const DeviceModel& device,
               std::function<std::vector<Kernel>(const Problem&)> kernels_of);
  /// Waits for the kernel that is being compiled; no other is begun.
  ~CompileAhead();
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;

  /// Waits until the problem's kernels were compiled. Returns at once for a problem that was not expected.
  void wait_for(const Problem& problem);

 private:
  void run(const std::vector<Problem>& problems);

  DeviceModel device_;
  std::function<std::vector<Kernel>(const Problem&)> kernels_of_;
  std::mutex mutex_;
  std::condition_variable changed_;
  /// The problems, by command_text: whether their kernels were compiled.
  std::map<std::string, bool> compiled_;
  bool is_ending_ = false;
  std::thread thread_;
};

class DeviceMeter : public Meter {
 public:
  /// @param setting with the device, the workspace and the filter; what it refers to outlives this
  DeviceMeter(const BenchSetting& setting, const DeviceMeterOptions& options);

  void expect(std::vector<Problem> problems) override;
  Result<std::vector<KernelTime>> measure(const Problem& problem) override;
  double now() override;

 private:
  const BenchSetting& setting_;
  DeviceMeterOptions options_;
  std::uint64_t measured_ = 0;
  std::unique_ptr<CompileAhead> ahead_;
};

}  // namespace quarry::lab
