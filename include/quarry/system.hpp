/// What of this machine the library can use: driver, devices, compilers. Nothing here changes anything.
#pragma once

#include <string>

#include "quarry/artifact.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// CUDA versions, as 1000 * major + 10 * minor: 13000 is 13.0.
struct CudaVersions {
  int driver = 0;   ///< what the driver supports; 0: there is no driver
  int runtime = 0;  ///< the CUDA runtime within the library
};
CudaVersions cuda_versions();

/// Ok when there is a driver, new enough, and at least one device; otherwise no_device with the cause. Asked
/// once, on the first call. Safe from any thread, as all of these are.
Status cuda_status();
/// Ok when there is a CUDA device of this number; no_device otherwise.
Status cuda_status(int device);

/// CUDA devices of this machine; 0 unless cuda_status() is ok.
int device_count();

/// Whether kernels can be compiled by this backend. Fails with no_compiler, and says where it was looked for,
/// when there is none, when it is too old, and when QUARRY_COMPILER is off.
Status compiler_status(CompilerBackend backend = CompilerBackend::automatic);

/// The file of the compiler that this backend would use: NVRTC's library or nvcc. It is neither opened nor
/// run. Fails with no_compiler, and says where it was looked for.
Result<std::string> compiler_path(CompilerBackend backend);

}  // namespace quarry
