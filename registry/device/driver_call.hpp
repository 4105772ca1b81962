/// Functions of the CUDA driver, which is not linked: found by name when they are first needed.
#pragma once

#include <cuda_runtime_api.h>

namespace quarry::detail {

/// Sets `function` to the driver's function of this name, as CUDA 12.0 knows it; false where there is none.
template <class Function>
bool find_driver_function(const char* name, Function& function) {
  constexpr unsigned version = 12000;
  void* found = nullptr;
  cudaDriverEntryPointQueryResult answer = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &answer);
  if (error != cudaSuccess) (void)cudaGetLastError();
  if (error != cudaSuccess || answer != cudaDriverEntryPointSuccess || found == nullptr) return false;
  function = reinterpret_cast<Function>(found);
  return true;
}

}  // namespace quarry::detail
