/// Questions about the machine's CUDA (quarry/system.hpp).
#include "quarry/system.hpp"

#include "quarry/version.hpp"
#include "registry/device/runtime.hpp"

namespace quarry {

std::string_view library_version() { return QUARRY_VERSION; }

CudaVersions cuda_versions() { return {detail::driver_version(), detail::runtime_version()}; }

Status cuda_status() { return detail::runtime_status(); }

Status cuda_status(int device) { return detail::device_status(device); }

int device_count() { return detail::device_count(); }

}  // namespace quarry
