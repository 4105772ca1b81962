#include "registry/device/runtime.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace quarry::detail {
namespace {

struct Runtime {
  Status status;
  int devices = 0;
  int driver = 0;
};

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Why there is no device to be had, given what cudaGetDeviceCount answered.
Status no_device(cudaError_t error, int driver) {
  const auto because = [](std::string cause) { return Status(StatusCode::no_device, std::move(cause)); };
  if (driver == 0) return because("No CUDA driver is installed");
  if (error == cudaErrorInsufficientDriver) {
    return because("The CUDA driver is too old: it supports CUDA " + version_text(driver) + ", CUDA " +
                   version_text(CUDART_VERSION) + " is needed");
  }
  if (error == cudaErrorNoDevice || error == cudaSuccess) {
    return because("A CUDA driver is installed, but it finds no device");
  }
  return because(std::string("CUDA cannot be used: ") + cudaGetErrorString(error) + " (" +
                 cudaGetErrorName(error) + ")");
}

Runtime ask_runtime() {
  Runtime runtime;
  if (cudaDriverGetVersion(&runtime.driver) != cudaSuccess) runtime.driver = 0;
  const cudaError_t error = cudaGetDeviceCount(&runtime.devices);
  if (error != cudaSuccess) runtime.devices = 0;
  if (runtime.devices == 0) runtime.status = no_device(error, runtime.driver);
  (void)cudaGetLastError();  // what was found out here is no error of the program's
  return runtime;
}

/// Never destroyed, so that it can be asked to the very end of the process.
const Runtime& runtime() {
  static const Runtime& asked = *new Runtime(ask_runtime());
  return asked;
}

}  // namespace

const Status& runtime_status() { return runtime().status; }

int device_count() { return runtime().devices; }

Status device_status(int ordinal) {
  const int devices = device_count();
  if (devices == 0) return runtime_status();
  if (ordinal >= 0 && ordinal < devices) return {};
  return {StatusCode::no_device, "There is no CUDA device " + std::to_string(ordinal) +
                                     ": this machine has " + std::to_string(devices)};
}

int driver_version() { return runtime().driver; }

int runtime_version() { return CUDART_VERSION; }

}  // namespace quarry::detail
