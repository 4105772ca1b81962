/// Memory that runs need: workspaces, and what torch allocates.
#pragma once

#include <cstddef>

#include "arguments.hpp"

namespace quarry::python {

/// What the caller gave as a workspace: a packed tensor, or a MemoryPool that memory is taken from. Without
/// either, memory is made for the run: of torch's allocator where operands are tensors of torch on a device,
/// on the stream.
class RunWorkspace {
 public:
  /// Raises as hold(), and quarry.Error where there is not enough memory.
  RunWorkspace(nb::handle given, std::size_t bytes, const OperationArguments& arguments, CUstream_st* stream);
  ~RunWorkspace();
  RunWorkspace(const RunWorkspace&) = delete;
  RunWorkspace& operator=(const RunWorkspace&) = delete;

  Workspace get() const { return workspace_; }

 private:
  void take_from_torch(std::size_t bytes, int device, CUstream_st* stream);

  Held held_ = {};
  WorkspaceBuffer own_;
  PooledWorkspace pooled_;
  bool is_of_torch_ = false;
  Workspace workspace_ = {};
};

/// Memory of torch's allocator for work on the stream. Raises what torch raises.
void* allocate_from_torch(std::size_t bytes, int device, CUstream_st* stream);

/// Gives it back, for work that follows on its stream. What torch raises is reported as unraisable.
void free_of_torch(void* memory);

}  // namespace quarry::python
