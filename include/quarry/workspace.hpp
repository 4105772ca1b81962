/// Scratch memory for runs, owned.
#pragma once

#include <cstddef>
#include <memory>

#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// Memory for a workspace that frees itself, aligned to 256 bytes as kernels need it. It converts to the
/// Workspace that a run takes:
///
///   Result<WorkspaceBuffer> buffer = WorkspaceBuffer::on_device(candidate.workspace());
///   if (!buffer) return buffer.status();
///   Status done = candidate.run(arguments, {.stream = stream, .workspace = *buffer});
///
/// One buffer serves any number of runs that do not overlap in time. It can be moved, not copied. Its
/// contents are undefined.
class WorkspaceBuffer {
 public:
  /// An empty buffer; most kernels need no workspace.
  WorkspaceBuffer() = default;

  /// Host memory, for runs on host tensors. Fails with device_error if there is not enough memory.
  static Result<WorkspaceBuffer> on_host(std::size_t bytes);

  /// Memory of a CUDA device, for runs on it. Allocating and freeing may wait for the device: create the
  /// buffer before the runs, and free it after they are done. Fails with no_device if there is no such
  /// device, and with device_error if its memory is used up. An empty buffer needs no device.
  static Result<WorkspaceBuffer> on_device(std::size_t bytes, int device = 0);

  /// Null for an empty buffer.
  void* data() const { return memory_.get(); }
  std::size_t bytes() const { return memory_ ? bytes_ : 0; }
  operator Workspace() const { return {data(), bytes()}; }

 private:
  using Free = void (*)(void* memory);
  WorkspaceBuffer(void* memory, std::size_t bytes, Free free) : memory_(memory, free), bytes_(bytes) {}
  static void free_nothing(void*) {}

  std::unique_ptr<void, Free> memory_ = {nullptr, free_nothing};
  std::size_t bytes_ = 0;
};

}  // namespace quarry
