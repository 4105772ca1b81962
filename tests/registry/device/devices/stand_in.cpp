#include "registry/device/devices/stand_in.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace quarry::stand_in {
namespace {

constexpr int most_devices = 8;
constexpr int managed = most_devices;  // regions of addresses behind the devices' regions
constexpr int pinned = most_devices + 1;
constexpr int region_bits = 40;

thread_local int current = 0;
std::mutex mutex;
std::vector<int> launches;  // guarded by mutex
std::atomic<int> stream_questions = 0;
std::atomic<int> pointer_questions = 0;
/// What streams point to.
char streams[most_devices + 1];

/// What a device knows of a kernel.
struct OnDevice {
  bool loaded = false;
  std::size_t shared_memory = std::size_t{48} << 10;  // that it may ask for
};
/// What kernels point to; guarded by mutex.
struct Kernel {
  const void* code = nullptr;
  OnDevice on[most_devices];
};
/// By the code that they are part of, which is what a library points to, and name.
std::map<std::pair<const void*, std::string>, Kernel> kernels;
std::vector<const void*> launched_code;    // guarded by mutex
std::map<void*, std::size_t> allocations;  // guarded by mutex
std::size_t allocated = 0;                 // bytes so far, as offset of the next one

int devices() {
  const char* const text = std::getenv("QUARRY_STAND_IN_DEVICES");
  return text == nullptr ? 2 : std::atoi(text);
}

void* address(int region, std::size_t offset) {
  return reinterpret_cast<void*>((static_cast<std::uintptr_t>(region + 1) << region_bits) + offset);
}

/// The region of an address; -1: the program's.
int region_of(std::uintptr_t pointer) {
  const auto region = static_cast<int>(pointer >> region_bits) - 1;
  return region <= pinned ? region : -1;
}

/// The device of a stream; -1 for an address that is not a stream.
int device_of(const CUstream_st* stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return current;
  const auto device = reinterpret_cast<const char*>(stream) - streams;
  return device < devices() ? static_cast<int>(device) : -1;
}

/// Notes a launch of a kernel, or of work without one.
cudaError_t launch_on(const CUstream_st* stream, const void* kernel = nullptr,
                      std::size_t shared_memory = 0) {
  const int device = device_of(stream);
  if (device < 0) return cudaErrorInvalidResourceHandle;
  const std::lock_guard lock(mutex);
  if (kernel != nullptr) {
    const OnDevice& known = static_cast<const Kernel*>(kernel)->on[device];
    if (!known.loaded || shared_memory > known.shared_memory) return cudaErrorInvalidValue;
    launched_code.push_back(static_cast<const Kernel*>(kernel)->code);
  }
  launches.push_back(device);
  return cudaSuccess;
}

/// What the current device knows of a kernel. @pre mutex is held
OnDevice& on_current(const void* kernel) {
  return const_cast<Kernel*>(static_cast<const Kernel*>(kernel))->on[current];
}

/// The driver's question.
CUresult pointer_attribute(void* answer, CUpointer_attribute attribute, CUdeviceptr pointer) {
  ++pointer_questions;
  const int region = region_of(pointer);
  if (attribute != CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL || region < 0) return CUDA_ERROR_INVALID_VALUE;
  const int device = region < most_devices ? region : 0;
  std::memcpy(answer, &device, sizeof device);
  return CUDA_SUCCESS;
}

}  // namespace

void* memory_of(int device, std::size_t offset) { return address(device, offset); }
void* managed_memory(std::size_t offset) { return address(managed, offset); }
void* pinned_memory(std::size_t offset) { return address(pinned, offset); }

CUstream_st* stream_of(int device) { return reinterpret_cast<CUstream_st*>(&streams[device]); }
CUstream_st* destroyed_stream() { return stream_of(most_devices); }

int current_device() { return current; }
void set_current_device(int device) { current = device; }

std::vector<int> take_launches() {
  const std::lock_guard lock(mutex);
  return std::exchange(launches, {});
}

std::vector<const void*> take_launched_code() {
  const std::lock_guard lock(mutex);
  return std::exchange(launched_code, {});
}

std::size_t live_allocations() {
  const std::lock_guard lock(mutex);
  return allocations.size();
}

Questions take_questions() { return {stream_questions.exchange(0), pointer_questions.exchange(0)}; }

}  // namespace quarry::stand_in

using namespace quarry::stand_in;

// What the linker puts in the place of the runtime's functions.
extern "C" {

cudaError_t __wrap_cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t __wrap_cudaGetDeviceCount(int* count) {
  *count = devices();
  return cudaSuccess;
}

cudaError_t __wrap_cudaGetDevice(int* device) {
  *device = current;
  return cudaSuccess;
}

cudaError_t __wrap_cudaSetDevice(int device) {
  if (device < 0 || device >= devices()) return cudaErrorInvalidDevice;
  current = device;
  return cudaSuccess;
}

cudaError_t __wrap_cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "stand-in");
  properties->major = 9;
  properties->multiProcessorCount = 132;
  properties->sharedMemPerBlockOptin = 227 * 1024;
  properties->sharedMemPerMultiprocessor = 228 * 1024;
  properties->regsPerMultiprocessor = 65536;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->l2CacheSize = 50 << 20;
  properties->totalGlobalMem = std::size_t{80} << 30;
  properties->memoryBusWidth = 5120;
  return cudaSuccess;
}

cudaError_t __wrap_cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 1'500'000;  // clocks in kilohertz are all that is asked
  return cudaSuccess;
}

cudaError_t __wrap_cudaGetLastError() { return cudaSuccess; }

cudaError_t __wrap_cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                    unsigned long long,
                                                    cudaDriverEntryPointQueryResult* result) {
  const bool known = std::strcmp(name, "cuPointerGetAttribute") == 0;
  *function = known ? reinterpret_cast<void*>(&pointer_attribute) : nullptr;
  *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

cudaError_t __wrap_cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  ++pointer_questions;
  const int region = region_of(reinterpret_cast<std::uintptr_t>(pointer));
  *attributes = {};
  attributes->type = region == managed  ? cudaMemoryTypeManaged
                     : region == pinned ? cudaMemoryTypeHost
                     : region < 0       ? cudaMemoryTypeUnregistered
                                        : cudaMemoryTypeDevice;
  attributes->device = region >= 0 && region < most_devices ? region : 0;
  return cudaSuccess;
}

cudaError_t __wrap_cudaStreamGetDevice(cudaStream_t stream, int* device) {
  ++stream_questions;
  *device = device_of(stream);
  return *device < 0 ? cudaErrorInvalidResourceHandle : cudaSuccess;
}

cudaError_t __wrap_cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return device_of(stream) < 0 ? cudaErrorInvalidResourceHandle : cudaSuccess;
}

cudaError_t __wrap_cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }

cudaError_t __wrap_cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                       unsigned, cudaLibraryOption*, void**, unsigned) {
  *library = static_cast<cudaLibrary_t>(const_cast<void*>(code));
  return cudaSuccess;
}

cudaError_t __wrap_cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  const std::lock_guard lock(quarry::stand_in::mutex);
  Kernel& found = kernels[{library, name}];
  found.code = library;
  *kernel = reinterpret_cast<cudaKernel_t>(&found);
  return cudaSuccess;
}

cudaError_t __wrap_cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int bytes) {
  const std::lock_guard lock(quarry::stand_in::mutex);
  on_current(kernel).shared_memory = static_cast<std::size_t>(bytes);
  return cudaSuccess;
}

cudaError_t __wrap_cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  const std::lock_guard lock(quarry::stand_in::mutex);
  *attributes = {};
  on_current(kernel).loaded = true;
  return cudaSuccess;
}

cudaError_t __wrap_cudaMalloc(void** memory, std::size_t bytes) {
  constexpr std::size_t most = std::size_t{1} << 38;
  const std::lock_guard lock(quarry::stand_in::mutex);
  if (bytes > most) return cudaErrorMemoryAllocation;
  allocated += 256;
  *memory = memory_of(current, (std::size_t{1} << 39) + allocated);
  allocations[*memory] = bytes;
  return cudaSuccess;
}

cudaError_t __wrap_cudaFree(void* memory) {
  const std::lock_guard lock(quarry::stand_in::mutex);
  return allocations.erase(memory) == 1 ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t __wrap_cudaMemsetAsync(void*, int, std::size_t, cudaStream_t stream) { return launch_on(stream); }

cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void**) {
  return launch_on(config->stream, kernel, config->dynamicSmemBytes);
}

}  // extern "C"
