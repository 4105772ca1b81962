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

bool is_capturing(CUstream_st* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

/// What the driver knows of a stream's context. Null where it has no such functions.
struct ContextQuestions {
  CUresult (*stream_context)(CUstream, CUcontext*) = nullptr;
  CUresult (*push)(CUcontext) = nullptr;
  CUresult (*pop)(CUcontext*) = nullptr;
  CUresult (*device)(CUdevice*) = nullptr;
};

ContextQuestions find_context_questions() {
  ContextQuestions q;
  const bool found = find_driver_function("cuStreamGetCtx", q.stream_context) &&
                     find_driver_function("cuCtxPushCurrent", q.push) &&
                     find_driver_function("cuCtxPopCurrent", q.pop) &&
                     find_driver_function("cuCtxGetDevice", q.device);
  return found ? q : ContextQuestions();
}

/// The device of a stream that is being captured; -1 where it cannot be told. The runtime's question
/// (cudaStreamGetDevice) fails then, and ends the capture; that for the context does not (two H100,
/// CUDA 13.0).
int device_while_capturing(CUstream_st* stream) {
  static const ContextQuestions ask = find_context_questions();
  CUcontext context = nullptr;
  if (ask.stream_context == nullptr || ask.stream_context(stream, &context) != CUDA_SUCCESS) return -1;
  if (ask.push(context) != CUDA_SUCCESS) return -1;
  CUdevice device = -1;
  const bool known = ask.device(&device) == CUDA_SUCCESS;
  (void)ask.pop(&context);
  return known ? device : -1;
}

/// Streams that each device has, named by constants.
bool is_of_any_device(CUstream_st* stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

}  // namespace

bool has_several_devices() { return device_count() > 1; }

Status check_stream(std::string_view kernel, CUstream_st* stream, int device) {
  if (is_of_any_device(stream) || !has_several_devices()) return {};
  int owner = -1;
  cudaError_t error = cudaSuccess;
  if (is_capturing(stream)) {
    owner = device_while_capturing(stream);
    if (owner < 0) return {};
  } else {
    error = cudaStreamGetDevice(stream, &owner);
  }
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
