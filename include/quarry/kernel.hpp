/// A registered kernel: ask it, prepare it, run it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "quarry/arguments.hpp"
#include "quarry/controls.hpp"
#include "quarry/metadata.hpp"
#include "quarry/plan_operands.hpp"
#include "quarry/status.hpp"

/// The CUDA runtime's stream, `cudaStream_t` being a pointer to it; named here so that no CUDA header is
/// needed.
struct CUstream_st;

namespace quarry {

class Artifact;
struct CompileOptions;

namespace detail {
struct Row;
struct PlanState;
}  // namespace detail

/// Device scratch memory (host memory for host tensors) that the caller owns; 256-byte aligned. Its contents
/// are undefined after a run, and concurrent runs need one each.
struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

struct RunOptions {
  /// Stream that the work is put on, of the device where the tensors lie (device_error otherwise); null is
  /// the legacy default stream of that device. Ignored for host tensors.
  CUstream_st* stream = nullptr;
  Workspace workspace = {};
  /// Skip every check that `supports(args)` would make: the caller has made them for these very arguments.
  bool assume_supported = false;
  /// Compile the kernel, on first use, where there is no machine code of it for the device. Otherwise such a
  /// kernel answers not_precompiled.
  bool compile = true;
  /// Let the kernel start while the one before it on the stream still ends, if that one allows it
  /// (programmatic dependent launch): setting up then costs no time. It waits before it touches memory, so
  /// that the order of the stream holds; results are the same. Kernels that do not know of it are launched as
  /// usual.
  bool overlap = true;
};

struct PrepareOptions {
  /// As RunOptions::compile.
  bool compile = true;
  /// As RunOptions::overlap, for each run of the plan.
  bool overlap = true;
};

/// A kernel made ready for one set of shapes, strides, epilogue and controls: running it only launches.
/// Copies share what is prepared; safe to run from many threads.
class Plan {
 public:
  /// Puts the work on `stream` with new pointers: no check but null, alignment, workspace size and device, no
  /// load, no allocation, no synchronisation; can be captured into a CUDA graph. Plans of host tensors
  /// compute before they return.
  ///
  /// Before anything is launched, a stream of another device than the plan's is refused with device_error,
  /// and so are pointers that lead to memory of another device, with invalid_arguments or, of the workspace,
  /// invalid_workspace; also where that device's memory could be reached, as Kernel::run does. On a machine
  /// with one device that costs nothing; otherwise CUDA is asked twice for the stream and once for each
  /// pointer. The same holds for a stream that is being captured, and a refusal does not end the capture.
  Status run(const PlanOperands& operands, CUstream_st* stream, Workspace workspace = {}) const;

  /// The same with the pointers of other arguments, of the plan's operation: nothing else of them counts.
  Status run(Arguments arguments, CUstream_st* stream, Workspace workspace = {}) const;

  /// What a run must be given: every other operand is ignored.
  std::span<const PlanOperandNeed> operands() const;

  /// Bytes of workspace that each run needs.
  std::size_t workspace_size() const;

  /// Made by Kernel::prepare.
  explicit Plan(std::shared_ptr<const detail::PlanState> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const detail::PlanState> state_;
};

/// A light handle to one row of the registry, with the controls that a query chose for it, if it came from
/// one. Valid for the life of the process; copyable; safe from any number of threads.
class Kernel {
 public:
  const KernelMetadata& metadata() const;
  std::string_view name() const { return metadata().name; }

  /// Controls that a run uses where the arguments leave them unset; empty for a kernel found by name, which
  /// chooses by itself.
  const Controls& controls() const { return controls_; }

  /// Whether the library holds machine code of this kernel for compute capability `cc` (80, 90), without
  /// asking a device.
  bool precompiled(int cc) const;

  /// Whether this kernel takes these arguments, and if not, which operand or control is at fault. Null
  /// pointers are fine. Arguments of another operation than the kernel's are unsupported, here and below.
  Status supports(Arguments arguments) const;

  /// Bytes of workspace that `run` needs for these arguments; often 0. Fails as `supports` does.
  Result<std::size_t> workspace_size(Arguments arguments) const;

  /// Machine code of this kernel for a target: what the library holds, or else compiled now, from sources
  /// that are part of the library. Asked again in the same process, the answer is in memory. Fails with
  /// unsupported for a target that the kernel does not run on, no_compiler and compile_error.
  Result<Artifact> compile() const;
  Result<Artifact> compile(const CompileOptions& options) const;

  /// Checks, loads the code (compiles it, where need be) and computes the launch once. Needs real pointers,
  /// or fake ones whose `memory` is set.
  Result<Plan> prepare(Arguments arguments, const PrepareOptions& options = {}) const;

  /// Runs on the device where the tensors lie, on the host executor when they are plain host memory. Returns
  /// when the work is on the stream (device) or done (host). Loads the kernel's code on first use, and
  /// compiles it where there is none; after that it neither allocates nor synchronises. While the stream is
  /// being captured, a kernel that is not loaded answers not_loaded.
  Status run(Arguments arguments, const RunOptions& options = {}) const;

  bool operator==(const Kernel& other) const { return row_ == other.row_; }

  /// For the registry: a handle to a row.
  explicit Kernel(const detail::Row& row, const Controls& controls = {}) : row_(&row), controls_(controls) {}

 private:
  const detail::Row* row_;
  Controls controls_;
};

/// A kernel as the answer to a problem: with controls chosen, a predicted time and the workspace that it
/// needs.
class Candidate : public Kernel {
 public:
  /// Seconds on the device model of the query, by the ranking's estimate.
  double predicted_seconds() const { return seconds_; }
  /// Bytes of workspace for the problem of the query.
  std::size_t workspace() const { return workspace_; }

  Candidate(const detail::Row& row, const Controls& controls, double seconds, std::size_t workspace)
      : Kernel(row, controls), seconds_(seconds), workspace_(workspace) {}

 private:
  double seconds_;
  std::size_t workspace_;
};

}  // namespace quarry
