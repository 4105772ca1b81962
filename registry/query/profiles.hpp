/// What is known of kernels on a device, computed when the device is first asked about and kept for good.
#pragma once

#include <cstddef>
#include <memory>

#include "gemm/profile.hpp"
#include "operations/common/row.hpp"
#include "quarry/device_model.hpp"

namespace quarry::detail {

/// The profiles of all entries of the table on one device.
struct DeviceProfiles {
  DeviceModel device;
  /// Its own, below most_devices.
  std::size_t number;
  /// By entry; the family's profile of its config, where it computes GEMMs.
  std::unique_ptr<GemmProfile[]> of_entry;
};

/// The profiles for a model, whatever its name; always the same object for the same numbers, so that its
/// address can stand for them. Safe from any thread, without a lock. Null where memory ran out or too many
/// different models were asked about
/// (`most_devices`): then profiles are to be computed one by one. @pre check_model(device)
const DeviceProfiles* profiles_on(const DeviceModel& device);

inline constexpr int most_devices = 16;

/// The profile of a row's entry, of the table or not, computed once for each device as far as profiles_on
/// goes: in `computed` where it cannot be kept.
const GemmProfile& profile_of(const Row& row, const DeviceModel& device, GemmProfile& computed);

}  // namespace quarry::detail
