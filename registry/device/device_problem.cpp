#include "registry/device/device_problem.hpp"

#include <utility>

namespace quarry::detail {
namespace {

/// Copies a tensor's storage to a device and points the view at the copy.
Status copy(const host::GuardedTensor& tensor, int device, DeviceBuffer& buffer, TensorView& view) {
  Result<DeviceBuffer> made = DeviceBuffer::allocate(tensor.storage_bytes(), device);
  if (!made) return made.status();
  buffer = *std::move(made);
  view = tensor.view().on({MemoryKind::device, device});
  view.data = static_cast<std::byte*>(buffer.data()) + tensor.offset();
  return buffer.upload(tensor.storage(), tensor.storage_bytes());
}

}  // namespace

Result<DeviceProblem> DeviceProblem::make(const host::RandomProblem& problem, int device) {
  DeviceProblem made;
  made.arguments = problem.arguments;
  GemmArguments& args = made.arguments;
  if (Status s = copy(problem.a, device, made.a, args.a); !s) return s;
  if (args.b.rank > 0) {  // which a reduction has not
    if (Status s = copy(problem.b, device, made.b, args.b); !s) return s;
  }
  if (Status s = copy(problem.out, device, made.out, args.out); !s) return s;
  if (problem.options.in_place) {
    args.c = args.out;
  } else if (args.c) {
    if (Status s = copy(problem.c, device, made.c, *args.c); !s) return s;
  }
  Epilogue& e = args.epilogue;
  if (e.bias) {
    if (Status s = copy(problem.bias, device, made.bias, *e.bias); !s) return s;
  }
  if (e.scale) {
    if (Status s = copy(problem.scale, device, made.scale, *e.scale); !s) return s;
  }
  if (problem.options.residual_in_place) {
    e.residual = args.out;
  } else if (e.residual) {
    if (Status s = copy(problem.residual, device, made.residual, *e.residual); !s) return s;
  }
  if (e.aux) {
    if (Status s = copy(problem.aux, device, made.aux, *e.aux); !s) return s;
  }
  return made;
}

Status DeviceProblem::upload_output(const host::RandomProblem& problem) const {
  if (problem.arguments.epilogue.aux) {
    if (Status s = aux.upload(problem.aux.storage(), problem.aux.storage_bytes()); !s) return s;
  }
  return out.upload(problem.out.storage(), problem.out.storage_bytes());
}

Status DeviceProblem::download_output(host::RandomProblem& problem) const {
  if (problem.arguments.epilogue.aux) {
    if (Status s = aux.download(problem.aux.storage(), 0, problem.aux.storage_bytes()); !s) return s;
  }
  return out.download(problem.out.storage(), 0, problem.out.storage_bytes());
}

}  // namespace quarry::detail
