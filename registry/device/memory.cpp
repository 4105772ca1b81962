#include "registry/device/memory.hpp"

#include <cuda_runtime_api.h>

#include "operations/common/tensor_checks.hpp"
#include "operations/reduce_split_k/problem.hpp"
#include "registry/device/runtime.hpp"

namespace quarry::detail {
namespace {

/// Gathers where the operands lie, one after another.
class Gathering {
 public:
  /// Fails when the operand lies elsewhere than those before it.
  Status add(const TensorView& view, Operand name) {
    const bool open = view.memory.kind == MemoryKind::automatic;
    if (open && view.data == nullptr) return {};
    const Memory memory = open ? locate(view.data) : view.memory;
    if (!add(memory)) return placing_.elsewhere(view, memory.kind, name);
    placing_.note(view, memory.kind, name);
    return {};
  }
  Status add(const std::optional<TensorView>& view, Operand name) {
    return view ? add(*view, name) : Status();
  }

  /// A scalar in memory. It has no `memory` of its own, so the driver is asked only where it was asked of
  /// tensors too.
  bool add(const Scalar& scalar, bool ask) {
    return scalar.pointer == nullptr || !ask || add(locate(scalar.pointer));
  }

  const Place& place() const { return place_; }

 private:
  bool add(Memory memory) {
    const bool host = memory.kind == MemoryKind::host;
    const Place::Kind kind = host ? Place::Kind::host : Place::Kind::device;
    if (place_.kind != Place::Kind::unknown && place_.kind != kind) return false;
    // Managed and pinned memory can be reached from every device: it follows where there is a tensor that
    // cannot.
    const bool fixed = memory.kind == MemoryKind::device;
    if (fixed && fixed_ && memory.device != place_.device) return false;
    if (fixed || place_.kind == Place::Kind::unknown) {
      if (!fixed_) place_.device = memory.device;
    }
    fixed_ = fixed_ || fixed;
    place_.kind = kind;
    return true;
  }

  Place place_;
  Placing placing_;
  bool fixed_ = false;
};

/// @param a what the first input is called; the second one may be absent
Result<Place> gathered(const GemmArguments& arguments, Operand a) {
  const Epilogue& e = arguments.epilogue;
  const bool reads_c = e.beta.pointer != nullptr || e.beta.value != 0;
  const bool asks = arguments.out.memory.kind == MemoryKind::automatic;
  const auto elsewhere = [](Operand operand) {
    return Status(StatusCode::invalid_arguments, Reason::mixed_devices, operand);
  };
  Gathering gathering;
  if (Status s = gathering.add(arguments.out, Operand::out); !s) return s;
  if (Status s = gathering.add(arguments.a, a); !s) return s;
  if (Status s = gathering.add(arguments.b, Operand::b); !s) return s;
  if (reads_c) {
    if (Status s = gathering.add(arguments.c, Operand::c); !s) return s;
  }
  if (Status s = gathering.add(e.bias, Operand::bias); !s) return s;
  if (Status s = gathering.add(e.scale, Operand::scale); !s) return s;
  if (Status s = gathering.add(e.residual, Operand::residual); !s) return s;
  if (Status s = gathering.add(e.aux, Operand::aux); !s) return s;
  if (!gathering.add(e.alpha, asks)) return elsewhere(Operand::alpha);
  if (!gathering.add(e.beta, asks)) return elsewhere(Operand::beta);
  return gathering.place();
}

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

Result<Place> place_of(const GemmArguments& arguments) { return gathered(arguments, Operand::a); }

Result<Place> place_of(const ReduceSplitKArguments& arguments) {
  return gathered(in_gemm_roles(arguments), Operand::partials);
}

}  // namespace quarry::detail
