/// The parts of this machine that the library can use: driver, devices, compilers. These calls change
/// nothing.
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

/// Ok when there is a driver, new enough, and at least one device; otherwise no_device with the cause. The
/// driver is asked once, on the first call. All functions of this header are safe from any thread.
Status cuda_status();
/// Ok when there is a CUDA device of this number; no_device otherwise.
Status cuda_status(int device);

/// CUDA devices of this machine; 0 unless cuda_status() is ok.
int device_count();

/// Whether this backend can compile kernels. Fails with no_compiler if there is no compiler (the message says
/// where the library looked), if it is too old, or if QUARRY_COMPILER is off.
Status compiler_status(CompilerBackend backend = CompilerBackend::automatic);

/// The file of the compiler that this backend would use: the library NVRTC, or nvcc. It is neither opened nor
/// run. Fails with no_compiler, and says where the library looked.
Result<std::string> compiler_path(CompilerBackend backend);

}  // namespace quarry
