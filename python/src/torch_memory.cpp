/// Device memory of torch's allocator.
#include "workspace.hpp"

#include <cstdint>

namespace quarry::python {
namespace {

nb::object torch_cuda() { return nb::module_::import_("torch").attr("cuda"); }

}  // namespace

void* allocate_from_torch(std::size_t bytes, int device, CUstream_st* stream) {
  const nb::object memory =
      torch_cuda().attr("caching_allocator_alloc")(bytes, device, reinterpret_cast<std::uintptr_t>(stream));
  return reinterpret_cast<void*>(nb::cast<std::uintptr_t>(memory));
}

void free_of_torch(void* memory) {
  try {
    torch_cuda().attr("caching_allocator_delete")(reinterpret_cast<std::uintptr_t>(memory));
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("memory of torch's allocator");
  }
}

}  // namespace quarry::python
