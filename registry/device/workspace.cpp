#include "quarry/workspace.hpp"

#include <cstddef>
#include <limits>
#include <new>
#include <string>

#include "registry/device/cuda_call.hpp"
#include "registry/device/runtime.hpp"

namespace quarry {
namespace {

constexpr auto alignment = std::align_val_t{256};  // which device memory has anyway

void free_on_host(void* memory) { ::operator delete(memory, alignment); }
void free_on_device(void* memory) { (void)cudaFree(memory); }

}  // namespace

Result<WorkspaceBuffer> WorkspaceBuffer::on_host(std::size_t bytes) {
  if (bytes == 0) return WorkspaceBuffer();
  // The library's aligned new rounds up to a multiple of the alignment, past the end of what it counts.
  const bool is_countable =
      bytes <= std::numeric_limits<std::ptrdiff_t>::max() - static_cast<std::size_t>(alignment);
  void* const memory = is_countable ? ::operator new(bytes, alignment, std::nothrow) : nullptr;
  if (memory == nullptr) {
    return Status(StatusCode::device_error,
                  "Out of memory for a workspace of " + std::to_string(bytes) + " bytes");
  }
  return WorkspaceBuffer(memory, bytes, free_on_host);
}

Result<WorkspaceBuffer> WorkspaceBuffer::on_device(std::size_t bytes, int device) {
  if (bytes == 0) return WorkspaceBuffer();
  if (Status s = detail::device_status(device); !s) return s;
  const detail::CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  const std::string what = "allocate a workspace of " + std::to_string(bytes) + " bytes";
  if (Status s = detail::cuda_status(error, what); !s) return s;
  return WorkspaceBuffer(memory, bytes, free_on_device);
}

}  // namespace quarry
