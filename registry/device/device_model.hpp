/// Device models that live as long as the process.
#pragma once

#include "quarry/device_model.hpp"

namespace quarry::detail {

/// The model of CUDA device `ordinal`, asked of the driver once and then remembered; null when there is none
/// such (device_model says why). Safe from any thread; a few nanoseconds after the first call.
const DeviceModel* cached_device_model(int ordinal);

}  // namespace quarry::detail
