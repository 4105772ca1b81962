#include "registry/device/same_device.hpp"

#include <cuda.h>

#include <cstdint>
#include <string>

#include "registry/device/cuda_call.hpp"
#include "registry/device/driver_call.hpp"
#include "registry/device/memory.hpp"
#include "registry/device/runtime.hpp"

namespace quarry::detail {
namespace {

using PointerAttribute = decltype(&cuPointerGetAttribute);

PointerAttribute find_pointer_attribute() {
  PointerAttribute function = nullptr;
  return find_driver_function("cuPointerGetAttribute", function) ? function : nullptr;
}

/// Whether the driver says at once that the pointer goes with the device. The runtime's question, which
/// locate() asks, answers more and takes longer.
bool is_of_device(const void* pointer, int device) {
  static const PointerAttribute ask = find_pointer_attribute();
  int ordinal = -1;
  return ask != nullptr &&
         ask(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, reinterpret_cast<std::uintptr_t>(pointer)) ==
             CUDA_SUCCESS &&
         ordinal == device;
}

/// The runtime does not tell the device of a stream that is being captured, and ends the capture where it is
/// asked (seen on two H100, CUDA 13.0).
bool is_capturing(CUstream_st* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

/// Streams that each device has, named by constants.
bool is_of_any_device(CUstream_st* stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

}  // namespace

bool has_several_devices() { return device_count() > 1; }

Status check_stream(std::string_view kernel, CUstream_st* stream, int device) {
  if (is_of_any_device(stream) || !has_several_devices() || is_capturing(stream)) return {};
  int owner = -1;
  const cudaError_t error = cudaStreamGetDevice(stream, &owner);
  if (error == cudaSuccess && owner == device) [[likely]]
    return {};
  const std::string launch = "launch `" + std::string(kernel) + "`";
  if (error != cudaSuccess) return cuda_status(error, launch + ": its stream cannot be used");
  return {StatusCode::device_error, "Cannot " + launch + ": the stream belongs to CUDA device " +
                                        std::to_string(owner) + ", the tensors lie on device " +
                                        std::to_string(device)};
}

Status check_pointer(StatusCode code, Operand name, const void* pointer, int device) {
  if (!has_several_devices() || is_of_device(pointer, device)) return {};
  const Memory memory = locate(pointer);
  if (memory.kind != MemoryKind::device || memory.device == device) return {};
  return {code, Reason::mixed_devices, name, device, memory.device};
}

}  // namespace quarry::detail
