/// Whether CUDA can be used in this process, asked once and without noise. No CUDA header is needed to
/// include this.
#pragma once

#include "quarry/status.hpp"

namespace quarry::detail {

/// Ok when there is a driver, new enough, and at least one device; otherwise no_device with the cause: no
/// driver, a driver that is too old, no device, or what the runtime says. Asked on the first call, remembered
/// after. Safe from any thread.
const Status& runtime_status();

/// CUDA devices of this machine; 0 unless runtime_status() is ok.
int device_count();

/// Ok when there is a CUDA device of this ordinal; no_device otherwise.
Status device_status(int ordinal);

/// Versions of the driver (0: none) and of the CUDA runtime in this library, as 1000 * major + 10 * minor.
int driver_version();
int runtime_version();

}  // namespace quarry::detail
