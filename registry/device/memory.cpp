#include "registry/device/memory.hpp"

#include <cuda_runtime_api.h>

#include "registry/device/runtime.hpp"
#include "registry/query/reduce_problem.hpp"

namespace quarry::detail {
namespace {

/// Gathers where the operands lie, one after another.
class Gathering {
 public:
  /// @return false when the operand lies elsewhere than those before it
  bool add(const TensorView& view) {
    const bool open = view.memory.kind == MemoryKind::automatic;
    if (open && view.data == nullptr) return true;
    return add(open ? locate(view.data) : view.memory);
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
  (void)gathering.add(arguments.out);  // the first one lies nowhere else
  if (!gathering.add(arguments.a)) return elsewhere(a);
  if (!gathering.add(arguments.b)) return elsewhere(Operand::b);
  if (arguments.c && reads_c && !gathering.add(*arguments.c)) return elsewhere(Operand::c);
  if (e.bias && !gathering.add(*e.bias)) return elsewhere(Operand::bias);
  if (e.scale && !gathering.add(*e.scale)) return elsewhere(Operand::scale);
  if (e.residual && !gathering.add(*e.residual)) return elsewhere(Operand::residual);
  if (e.aux && !gathering.add(*e.aux)) return elsewhere(Operand::aux);
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
