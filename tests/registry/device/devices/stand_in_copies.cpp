/// Streams, events, page-locked memory and copies of the stand-in.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "registry/device/devices/stand_in.hpp"

namespace quarry::stand_in {
namespace {

struct Event {
  int device;
};

std::mutex mutex;  // of all below
Copies copies;
std::size_t helpers = 0;
std::map<std::uintptr_t, std::size_t> locked;  // page-locked memory

bool is_locked(const void* memory, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const auto found = locked.upper_bound(address);
  if (found == locked.begin()) return false;
  const auto& [begin, size] = *std::prev(found);
  return address + bytes <= begin + size;
}

bool is_of_device(const void* memory) {
  cudaPointerAttributes attributes = {};
  return cudaPointerGetAttributes(&attributes, memory) == cudaSuccess &&
         attributes.type == cudaMemoryTypeDevice && attributes.device == current_device();
}

void count(int change) {
  const std::lock_guard lock(mutex);
  helpers += static_cast<std::size_t>(change);
}

}  // namespace

Copies take_copies() {
  const std::lock_guard lock(mutex);
  return std::exchange(copies, {});
}

std::size_t live_copy_helpers() {
  const std::lock_guard lock(mutex);
  return helpers + locked.size();
}

}  // namespace quarry::stand_in

using namespace quarry::stand_in;

extern "C" {

cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = stream_of(current_device());
  count(1);
  return cudaSuccess;
}

cudaError_t __wrap_cudaStreamDestroy(cudaStream_t) {
  count(-1);
  return cudaSuccess;
}

cudaError_t __wrap_cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new Event{current_device()});
  count(1);
  return cudaSuccess;
}

cudaError_t __wrap_cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<Event*>(event);
  count(-1);
  return cudaSuccess;
}

/// As the runtime: event and stream must be of one device.
cudaError_t __wrap_cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return stream == stream_of(reinterpret_cast<Event*>(event)->device) ? cudaSuccess
                                                                      : cudaErrorInvalidResourceHandle;
}

cudaError_t __wrap_cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

cudaError_t __wrap_cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  *memory = std::calloc(bytes, 1);
  const std::lock_guard lock(quarry::stand_in::mutex);
  locked[reinterpret_cast<std::uintptr_t>(*memory)] = bytes;
  return cudaSuccess;
}

cudaError_t __wrap_cudaFreeHost(void* memory) {
  const std::lock_guard lock(quarry::stand_in::mutex);
  if (locked.erase(reinterpret_cast<std::uintptr_t>(memory)) == 0) return cudaErrorInvalidValue;
  std::free(memory);
  return cudaSuccess;
}

cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  const bool is_upload = is_of_device(to);
  const bool is_download = is_of_device(from);
  const std::lock_guard lock(quarry::stand_in::mutex);
  if (kind != cudaMemcpyDefault || is_upload == is_download) return cudaErrorInvalidValue;
  if (!is_locked(is_upload ? from : to, bytes)) return cudaErrorInvalidValue;
  (is_upload ? copies.to_device : copies.to_host) += bytes;
  copies.streams.push_back(stream);
  return cudaSuccess;
}

}  // extern "C"
