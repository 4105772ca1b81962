#include "workspace.hpp"

namespace quarry::python {
namespace {

std::size_t bytes_in(const TensorView& view) {
  std::int64_t elements = 1;
  for (std::size_t i = view.rank; i-- > 0;) {
    if (view.strides[i] != elements && view.extents[i] != 1)
      throw nb::value_error("workspace: expected a packed tensor");
    elements *= view.extents[i];
  }
  return static_cast<std::size_t>(bytes_for(view.dtype, elements));
}

}  // namespace

RunWorkspace::RunWorkspace(nb::handle given, std::size_t bytes, const OperationArguments& arguments,
                           CUstream_st* stream) {
  const bool is_pool = nb::isinstance<MemoryPool>(given);
  if (!is_pool && !given.is_none()) {
    held_ = hold_plain(given, "workspace", true);
    workspace_ = {const_cast<void*>(held_.view.data), bytes_in(held_.view)};
    return;
  }
  if (bytes == 0) return;
  const Memory memory = arguments.memory();
  const bool on_device = memory.kind == MemoryKind::device || memory.kind == MemoryKind::managed ||
                         memory.kind == MemoryKind::pinned;
  if (on_device && is_pool) {
    pooled_ = value_of(nb::cast<const MemoryPool&>(given).workspace(bytes, stream));
    workspace_ = pooled_;
  } else if (on_device && arguments.has_torch()) {
    take_from_torch(bytes, memory.device, stream);
  } else {
    own_ = value_of(on_device ? WorkspaceBuffer::on_device(bytes, memory.device)
                              : WorkspaceBuffer::on_host(bytes));
    workspace_ = own_;
  }
}

void RunWorkspace::take_from_torch(std::size_t bytes, int device, CUstream_st* stream) {
  workspace_ = {allocate_from_torch(bytes, device, stream), bytes};
  is_of_torch_ = true;
}

RunWorkspace::~RunWorkspace() {
  if (is_of_torch_) free_of_torch(workspace_.data);
}

}  // namespace quarry::python
