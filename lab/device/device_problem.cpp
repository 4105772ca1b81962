#include "lab/device/device_problem.hpp"

#include <cstring>
#include <utility>
#include <vector>

namespace quarry::detail {
std::size_t array_offset(const host::GuardedTensor& tensor) {
  constexpr std::size_t pointer = sizeof(void*);
  return (tensor.storage_bytes() + pointer - 1) / pointer * pointer;
}

std::size_t array_bytes(const host::GuardedTensor& tensor) {
  return tensor.view().is_pointer_array ? tensor.offsets().size() * sizeof(void*) : 0;
}

void write_array(const host::GuardedTensor& tensor, std::byte* storage, void* to) {
  std::byte* next = static_cast<std::byte*>(to);
  for (const std::size_t offset : tensor.offsets()) {
    const std::byte* const matrix = storage + offset;
    std::memcpy(next, &matrix, sizeof matrix);
    next += sizeof matrix;
  }
}

namespace {

/// Copies a tensor's storage to a device and points the view at the copy. Behind the storage lies what an
/// array of pointers is there.
Status copy(const host::GuardedTensor& tensor, int device, DeviceBuffer& buffer, TensorView& view) {
  const std::size_t array = array_offset(tensor);
  Result<DeviceBuffer> made = DeviceBuffer::allocate(array + array_bytes(tensor), device);
  if (!made) return made.status();
  buffer = *std::move(made);
  auto* const storage = static_cast<std::byte*>(buffer.data());
  view = tensor.view().on({MemoryKind::device, device});
  view.data = storage + (view.is_pointer_array ? array : tensor.offset());
  if (!view.is_pointer_array) return buffer.upload(tensor.storage(), tensor.storage_bytes());
  // All at once: an upload starts at the buffer's start.
  std::vector<std::byte> bytes(buffer.bytes());
  std::memcpy(bytes.data(), tensor.storage(), tensor.storage_bytes());
  write_array(tensor, storage, bytes.data() + array);
  return buffer.upload(bytes.data(), bytes.size());
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
