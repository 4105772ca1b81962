/// A kernel: questions, plans and runs.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "quarry/arguments.hpp"
#include "quarry/controls.hpp"
#include "quarry/metadata.hpp"
#include "quarry/plan_operands.hpp"
#include "quarry/status.hpp"

/// The type that `cudaStream_t` points to. It is declared here, so that no CUDA header is needed.
struct CUstream_st;

namespace quarry {

class Artifact;
class MemoryPool;
struct CompileOptions;

namespace detail {
struct Row;
struct PlanState;
}  // namespace detail

/// Device scratch memory (host memory for host tensors) that the caller owns; 256-byte aligned. Its contents
/// are undefined after a run, and concurrent runs need one each. WorkspaceBuffer (quarry/workspace.hpp) owns
/// such memory; a MemoryPool (quarry/memory_pool.hpp) has some for each run.
struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

struct RunOptions {
  /// Stream for the work. It must belong to the device of the tensors (device_error otherwise). Null is the
  /// legacy default stream of that device. Ignored for host tensors.
  CUstream_st* stream = nullptr;
  Workspace workspace = {};
  /// The code that runs, whatever is precompiled, packed or cached. It must live until the run returns. It is
  /// loaded at the first run with it and stays loaded. Null: the code that Kernel::compile would find. Fails
  /// with invalid_artifact if it belongs to another kernel, or cannot run on the device. Kernels that follow,
  /// such as a reduction, run their own code. For host tensors it is checked and not used.
  const Artifact* artifact = nullptr;
  /// Skip every check that `supports(args)` makes: the caller has made them for exactly these arguments.
  /// Arguments that are not supported may do anything. Pointers, workspace and stream are still checked.
  bool assume_supported = false;
  /// Compile the kernel on first use if there is no machine code for the device. If false, such a kernel
  /// fails with not_precompiled.
  bool compile = true;
  /// Allows this kernel to start before its predecessor on the stream finishes, if the predecessor permits it
  /// (programmatic dependent launch). This hides the set-up time. The kernel waits before it accesses memory,
  /// so the order of the stream holds and the results are the same. Kernels without support for it are
  /// launched as usual.
  bool overlap = true;
  /// Memory for a kernel that needs a workspace, where `workspace` is empty: allocated on the stream, and
  /// freed there behind the kernel. The pool belongs to the device of the tensors (invalid_workspace
  /// otherwise). Not used for host tensors. Null: none.
  const MemoryPool* pool = nullptr;
};

struct PrepareOptions {
  /// As RunOptions::artifact. The plan keeps it.
  const Artifact* artifact = nullptr;
  /// As RunOptions::compile.
  bool compile = true;
  /// As RunOptions::overlap, for each run of the plan.
  bool overlap = true;
};

/// A kernel prepared for one set of shapes, strides, epilogue and controls. A run only launches. Copies share
/// the prepared state. Many threads may run a plan at the same time.
class Plan {
 public:
  /// Launches on `stream` with new pointers. Checks only null pointers, alignment, workspace size and device.
  /// It does not load, allocate or synchronise, and can be captured into a CUDA graph. A plan of host tensors
  /// computes before it returns.
  ///
  /// Fails before any launch: with device_error if the stream belongs to another device than the plan, with
  /// invalid_arguments if an operand is in the memory of another device, and with invalid_workspace if the
  /// workspace is. Kernel::run fails in the same way. This holds even if the devices can access each other's
  /// memory. On a machine with one device these checks cost nothing. Otherwise they ask CUDA twice about the
  /// stream and once about each pointer. They also work while the stream is being captured, and a failure
  /// does not end the capture.
  Status run(const PlanOperands& operands, CUstream_st* stream, Workspace workspace = {}) const;

  /// The same with the pointers of `arguments`, which must be of the operation of the plan. Everything else
  /// in them is ignored.
  Status run(Arguments arguments, CUstream_st* stream, Workspace workspace = {}) const;

  /// The operands that a run needs. Other operands are ignored.
  std::span<const PlanOperandNeed> operands() const;

  /// Bytes of workspace that each run needs.
  std::size_t workspace_size() const;

  /// Made by Kernel::prepare.
  explicit Plan(std::shared_ptr<const detail::PlanState> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const detail::PlanState> state_;
};

/// A light handle to one row of the registry, with the controls that a query chose for it, if it comes from a
/// query. Valid for the life of the process; copyable; safe from any number of threads.
class Kernel {
 public:
  const KernelMetadata& metadata() const;
  std::string_view name() const { return metadata().name; }

  /// Controls that a run uses if the arguments leave them unset. Empty for a kernel found by name; its runs
  /// choose their controls.
  Controls controls() const;

  /// Whether this process has machine code of the kernel that runs on compute capability `cc` (80, 90), so
  /// that no compiler is needed: precompiled in the library, from a pack (load_pack, QUARRY_PACKS), from an
  /// added artifact, or compiled by this process. Asks no device, and does not look in the cache on disk.
  bool precompiled(int cc) const;

  /// The same of the code that a run of these arguments launches: the kernel with their expression compiled
  /// in, where they have one. False for arguments that no kernel takes. Null pointers are fine.
  bool precompiled(int cc, Arguments arguments) const;

  /// Whether this kernel takes these arguments, and if not, which operand or control is at fault. Null
  /// pointers are fine. Arguments of another operation than the kernel's are unsupported, here and below.
  Status supports(Arguments arguments) const;

  /// Bytes of workspace that `run` needs for these arguments; often 0. Fails as `supports` does.
  Result<std::size_t> workspace_size(Arguments arguments) const;

  /// Machine code of this kernel for a target: the code in the library, or otherwise compiled now from
  /// sources that are part of the library. A repeated call in the same process returns the code from memory.
  /// Fails with unsupported for a target on which the kernel does not run, with no_compiler, and with
  /// compile_error.
  Result<Artifact> compile() const;
  Result<Artifact> compile(const CompileOptions& options) const;

  /// Checks the arguments, loads the code (compiles it if necessary) and computes the launch, once for all
  /// runs of the plan. Needs real pointers, or fake tensors with `memory` set.
  Result<Plan> prepare(Arguments arguments, const PrepareOptions& options = {}) const;

  /// Runs on the device of the tensors, or on the host executor if they are in plain host memory. Returns
  /// when the work is on the stream (device) or done (host). Loads the code of the kernel on first use, and
  /// compiles it if there is no code; after that it neither allocates nor synchronises. While the stream is
  /// being captured, a kernel that is not loaded fails with not_loaded.
  Status run(Arguments arguments, const RunOptions& options = {}) const;

  bool operator==(const Kernel& other) const { return row_ == other.row_; }

  /// For the library: controls() as the device code of an exchanged kernel names them
  /// (detail::Row::exchanged).
  const Controls& entry_controls() const { return controls_; }

  /// For the library: a handle to a row, with entry_controls().
  explicit Kernel(const detail::Row& row, const Controls& controls = {}) : row_(&row), controls_(controls) {}
  /// The same, part by part.
  Kernel(const detail::Row& row, Mode mode, int split_k_slices, int swizzle, Raster raster)
      : row_(&row), controls_{mode, split_k_slices, swizzle, raster, std::nullopt} {}

 private:
  const detail::Row* row_;
  Controls controls_;
};

/// A kernel that can solve a problem, with chosen controls, a predicted time and the workspace that it needs.
class Candidate : public Kernel {
 public:
  /// Seconds on the device model of the query, by the ranking's estimate.
  double predicted_seconds() const { return seconds_; }
  /// Seconds on the device of the query as a tuning table says (quarry/tuning.hpp), if this candidate was
  /// chosen by that measurement. For an M in a tuned interval, the time is the one of the interval's end.
  std::optional<double> measured_seconds() const {
    return measured_ > 0 ? std::optional(measured_) : std::nullopt;
  }
  /// Bytes of workspace for the problem of the query.
  std::size_t workspace() const { return workspace_; }

  /// For the registry, as Kernel's constructor. @param measured 0: not measured
  Candidate(const detail::Row& row, const Controls& controls, double seconds, std::size_t workspace,
            double measured = 0)
      : Kernel(row, controls), seconds_(seconds), workspace_(workspace), measured_(measured) {}
  /// The same, part by part: a list of candidates is written once, and where it stays.
  Candidate(const detail::Row& row, Mode mode, int split_k_slices, int swizzle, Raster raster, double seconds,
            std::size_t workspace, double measured)
      : Kernel(row, mode, split_k_slices, swizzle, raster),
        seconds_(seconds),
        workspace_(workspace),
        measured_(measured) {}

 private:
  double seconds_;
  std::size_t workspace_;
  double measured_;
};

}  // namespace quarry
