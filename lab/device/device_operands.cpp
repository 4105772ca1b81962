#include "lab/device/device_operands.hpp"

#include <cstring>
#include <utility>

namespace quarry::lab {
namespace {

/// Copies a tensor's storage to a device. Behind the storage lies what an array of pointers is there.
Result<DeviceBuffer> copy(const GuardedTensor& tensor, int device) {
  const std::size_t array = array_offset(tensor);
  Result<DeviceBuffer> made = DeviceBuffer::allocate(array + array_bytes(tensor), device);
  if (!made) return made;
  Status uploaded;
  if (tensor.view().is_pointer_array) {
    // All at once: an upload starts at the buffer's start.
    std::vector<std::byte> bytes(made->bytes());
    std::memcpy(bytes.data(), tensor.storage(), tensor.storage_bytes());
    write_array(tensor, static_cast<std::byte*>(made->data()), bytes.data() + array);
    uploaded = made->upload(bytes.data(), bytes.size());
  } else {
    uploaded = made->upload(tensor.storage(), tensor.storage_bytes());
  }
  if (!uploaded) return uploaded;
  return made;
}

}  // namespace

std::size_t array_offset(const GuardedTensor& tensor) {
  constexpr std::size_t pointer = sizeof(void*);
  return (tensor.storage_bytes() + pointer - 1) / pointer * pointer;
}

std::size_t array_bytes(const GuardedTensor& tensor) {
  return tensor.view().is_pointer_array ? tensor.offsets().size() * sizeof(void*) : 0;
}

void write_array(const GuardedTensor& tensor, std::byte* storage, void* to) {
  std::byte* next = static_cast<std::byte*>(to);
  for (const std::size_t offset : tensor.offsets()) {
    const std::byte* const matrix = storage + offset;
    std::memcpy(next, &matrix, sizeof matrix);
    next += sizeof matrix;
  }
}

Result<DeviceOperands> DeviceOperands::make(const Operands& operands, int device) {
  DeviceOperands made(operands.arguments());
  for (const NamedTensor& each : operands.tensors()) {
    Result<DeviceBuffer> buffer = copy(each.tensor, device);
    if (!buffer) return buffer.status();
    made.buffers_.push_back(*std::move(buffer));
  }
  const Status edited =
      edit_copies(operands, made.arguments_, [&](std::size_t place, TensorView& view) -> Status {
        const GuardedTensor& tensor = operands.tensors()[place].tensor;
        view = in_place_view(view.dtype, tensor.view().on({MemoryKind::device, device}));
        view.data = static_cast<std::byte*>(made.buffers_[place].data()) +
                    (view.is_pointer_array ? array_offset(tensor) : tensor.offset());
        return {};
      });
  if (!edited) return edited;
  return made;
}

Status DeviceOperands::upload_outputs(const Operands& operands) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const NamedTensor& each = operands.tensors()[i];
    if (!each.is_output) continue;
    if (Status s = buffers_[i].upload(each.tensor.storage(), each.tensor.storage_bytes()); !s) return s;
  }
  return {};
}

Status DeviceOperands::download_outputs(Operands& operands) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const NamedTensor& each = operands.tensors()[i];
    if (!each.is_output) continue;
    if (Status s = buffers_[i].download(each.tensor.storage(), 0, each.tensor.storage_bytes()); !s) return s;
  }
  return {};
}

}  // namespace quarry::lab
