/// Device models that live as long as the process.
#pragma once

#include "quarry/device_model.hpp"
#include "registry/device/properties.hpp"

namespace quarry::detail {

/// The model of a device that the driver describes so. A device of a kind that was measured has the factors
/// of its own kind. Other devices have the factors of one that was measured: with the nearest speed of
/// memory.
DeviceModel model_of(const DeviceProperties& properties);

/// The model of CUDA device `ordinal`, asked of the driver once and then remembered; null when there is none
/// such (device_model says why). Safe from any thread; a few nanoseconds after the first call.
const DeviceModel* cached_device_model(int ordinal);

/// Whether a model is one of these, or built in: complete, and the same to the end of the process, so that
/// its address stands for it.
bool is_lasting(const DeviceModel& model);

}  // namespace quarry::detail
