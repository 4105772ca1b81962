/// Errors of the CUDA runtime as Status, and the device that is current.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "quarry/status.hpp"

namespace quarry::detail {

/// Ok for cudaSuccess, otherwise device_error: "Cannot <what>: <the runtime's words>". Takes the error out of
/// the runtime's memory of the last one, so that it does not turn up in the program's own checks.
inline Status cuda_status(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return {};
  (void)cudaGetLastError();
  return {StatusCode::device_error, "Cannot " + std::string(what) + ": " + cudaGetErrorString(error) + " (" +
                                        cudaGetErrorName(error) + ")"};
}

/// Makes a device current for a scope, and the one before current again after it. Costs one cheap call where
/// it is current already.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    error_ = cudaGetDevice(&before_);
    if (error_ != cudaSuccess || before_ == device) return;
    error_ = cudaSetDevice(device);
    changed_ = error_ == cudaSuccess;
  }
  ~CurrentDevice() {
    if (changed_) (void)cudaSetDevice(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

  Status status() const { return cuda_status(error_, "make the device current"); }

 private:
  cudaError_t error_;
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace quarry::detail
