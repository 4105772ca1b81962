/// What is known of all kernels on a device, computed when the device is first asked about and kept for good.
#pragma once

#include <memory>

#include "common/gemm_host_profile.hpp"
#include "quarry/device_model.hpp"

namespace quarry::detail {

/// The profiles of all entries on one device.
struct DeviceProfiles {
  DeviceModel device;
  /// By entry; the family's profile of its config.
  std::unique_ptr<GemmProfile[]> of_entry;
};

/// The profiles for a model, whatever its name; always the same object for the same numbers, so that its
/// address can stand for them. Safe from any thread, without a lock. Null where memory ran out or too many
/// different models were asked about
/// (`most_devices`): then profiles are to be computed one by one. @pre check_model(device)
const DeviceProfiles* profiles_on(const DeviceModel& device);

inline constexpr int most_devices = 16;

}  // namespace quarry::detail
