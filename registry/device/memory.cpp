#include "registry/device/memory.hpp"

#include <cuda_runtime_api.h>

#include "operations/common/tensor_checks.hpp"
#include "registry/device/runtime.hpp"

namespace quarry::detail {
namespace {

/// Gathers where the operands lie, one after another.
class Gathering {
 public:
  explicit Gathering(Operand first) : placing_(first) {}

  /// Fails when the operand lies elsewhere than those before it.
  Status add(const TensorView& view, Operand name) {
    const bool open = view.memory.kind == MemoryKind::automatic;
    if (open && view.data == nullptr) return {};
    const Memory memory = open ? locate(view.data) : view.memory;
    if (!add(memory)) return placing_.elsewhere(view, memory.kind, name);
    placing_.note(view, memory.kind, name);
    return {};
  }

  /// A scalar in memory. It has no `memory` of its own, so the driver is asked only where it was asked of
  /// tensors too.
  bool add(const void* scalar, bool ask) { return scalar == nullptr || !ask || add(locate(scalar)); }

  const RunPlace& place() const { return place_; }

 private:
  bool add(Memory memory) {
    const bool host = memory.kind == MemoryKind::host;
    const RunPlace::Kind kind = host ? RunPlace::Kind::host : RunPlace::Kind::device;
    if (place_.kind != RunPlace::Kind::unknown && place_.kind != kind) return false;
    // Managed and pinned memory can be reached from every device: it follows where there is a tensor that
    // cannot.
    const bool fixed = memory.kind == MemoryKind::device;
    if (fixed && fixed_ && memory.device != place_.device) return false;
    if (fixed || place_.kind == RunPlace::Kind::unknown) {
      if (!fixed_) place_.device = memory.device;
    }
    fixed_ = fixed_ || fixed;
    place_.kind = kind;
    return true;
  }

  RunPlace place_;
  Placing placing_;
  bool fixed_ = false;
};

}  // namespace

Memory locate(const void* pointer) {
  if (!runtime_status()) return {MemoryKind::host, 0};
  cudaPointerAttributes attributes = {};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    (void)cudaGetLastError();
    return {MemoryKind::host, 0};
  }
  switch (attributes.type) {
    case cudaMemoryTypeDevice: return {MemoryKind::device, attributes.device};
    case cudaMemoryTypeManaged: return {MemoryKind::managed, attributes.device};
    case cudaMemoryTypeHost: return {MemoryKind::pinned, attributes.device};
    default: return {MemoryKind::host, 0};
  }
}

Result<RunPlace> place_of(const OperandList& operands) {
  const OperandRef& first = operands.front();
  Gathering gathering(first.name);
  for (const OperandRef& operand : operands) {
    if (Status s = gathering.add(*operand.view, operand.name); !s) return s;
  }
  const bool asks = first.view->memory.kind == MemoryKind::automatic;
  for (const ScalarRef& scalar : operands.scalars()) {
    if (!gathering.add(scalar.scalar->pointer, asks)) return lies_elsewhere(scalar.name, first.name);
  }
  return gathering.place();
}

}  // namespace quarry::detail
