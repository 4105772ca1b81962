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
  if (Status s = copy(problem.b, device, made.b, args.b); !s) return s;
  if (Status s = copy(problem.out, device, made.out, args.out); !s) return s;
  if (problem.options.in_place) {
    args.c = args.out;
  } else if (args.c) {
    if (Status s = copy(problem.c, device, made.c, *args.c); !s) return s;
  }
  if (args.epilogue.bias) {
    if (Status s = copy(problem.bias, device, made.bias, *args.epilogue.bias); !s) return s;
  }
  return made;
}

Status DeviceProblem::upload_output(const host::RandomProblem& problem) const {
  return out.upload(problem.out.storage(), problem.out.storage_bytes());
}

Status DeviceProblem::download_output(host::RandomProblem& problem) const {
  return out.download(problem.out.storage(), 0, problem.out.storage_bytes());
}

}  // namespace quarry::detail
