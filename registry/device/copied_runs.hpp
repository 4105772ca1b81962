/// Runs with copies of host tensors: what an OnDevice is inside, on any CopyEngine.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "quarry/registry.hpp"
#include "quarry/status.hpp"
#include "registry/device/byte_runs.hpp"
#include "registry/device/copy_engine.hpp"
#include "registry/device/host_operands.hpp"
#include "registry/device/staging.hpp"

namespace quarry::detail {

/// As OnDevice; calls of many threads are served one after another.
class CopiedRuns {
 public:
  CopiedRuns(std::unique_ptr<CopyEngine> engine, std::size_t staging_bytes);
  ~CopiedRuns();
  CopiedRuns(const CopiedRuns&) = delete;
  CopiedRuns& operator=(const CopiedRuns&) = delete;

  /// @param kernel null: the best one
  Status run(const Kernel* kernel, const Arguments& arguments, const RunOptions& options);
  Status sync();
  void close();
  bool is_closed() const;
  std::size_t pending() const;
  CUstream_st* stream() const;

 private:
  /// An output on the device that the host does not have.
  struct Pending {
    std::shared_ptr<const DeviceSpan> span;
    TensorView on_host;
    ByteRuns runs;
  };
  /// Operands that share a span.
  struct Group {
    std::shared_ptr<const DeviceSpan> span;
    std::vector<HostOperand*> operands;
    bool is_there = false;  ///< the device has what they hold
  };

  Status check_open() const;
  Result<Candidate> best_for(const Arguments& copy) const;
  Status run_copy(const Kernel& kernel, const Arguments& copy, const RunOptions& options);
  Status launch(const Kernel& kernel, const Arguments& copy, const RunOptions& options);
  Status place(std::vector<HostOperand>& operands, std::vector<Group>& groups);
  Status make_span(Group& group);
  Status upload(const Group& group);
  void keep_outputs(const std::vector<Group>& groups);
  bool is_stale_on_host(const Group& group, std::shared_ptr<const DeviceSpan>& known) const;
  Status bring_back();

  mutable std::mutex mutex_;
  std::unique_ptr<CopyEngine> engine_;  ///< null when closed
  Staging staging_;
  std::vector<Pending> pending_;
};

}  // namespace quarry::detail
