/// What is known of kernels on a device, computed when the device is first asked about and kept for good.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>

#include "operations/common/row.hpp"
#include "quarry/device_model.hpp"
#include "registry/query/own_entries.hpp"

namespace quarry::detail {

/// A device's number: the same for models of the same numbers, whatever their name, so that it can stand for
/// them. Below most_devices; absent where more different models than that were asked about. Safe from any
/// thread, without a lock. @pre check_model(device)
std::optional<std::size_t> device_number(const DeviceModel& device);

/// The model of a number, which stays where it is: profiles may refer to it.
const DeviceModel& known_device(std::size_t number);

/// Entries of the table that rows of one operation run, by number: from `first` on, before `last`.
struct EntryRange {
  std::uint32_t first;
  std::uint32_t last;
};
EntryRange entries_of(Operation operation);

/// Profiles of an operation's kernels.
template <class Rules>
class Profiles {
 public:
  using Profile = typename Rules::Profile;

  /// Those of the entries of the table on a device. Null where memory ran out: then profiles are to be
  /// computed one by one.
  static const Profiles* on(std::size_t number) {
    std::atomic<const Profiles*>& place = known_[number];
    if (const Profiles* const there = place.load(std::memory_order_acquire)) return there;
    std::unique_ptr<const Profiles> made = compute(known_device(number));
    const Profiles* nobody = nullptr;  // has put them there before
    if (place.compare_exchange_strong(nobody, made.get(), std::memory_order_acq_rel)) return made.release();
    return nobody;
  }

  /// @pre the row's entry is of the table
  const Profile& of(const Row& row) const { return of_entry_[row.entry - first_]; }

 private:
  static std::unique_ptr<const Profiles> compute(const DeviceModel& device) {
    const EntryRange range = entries_of(Rules::Arguments::operation);
    std::unique_ptr<Profiles> made(new (std::nothrow) Profiles);
    if (made == nullptr) return nullptr;
    made->first_ = range.first;
    made->of_entry_.reset(new (std::nothrow) Profile[range.last - range.first]);
    if (made->of_entry_ == nullptr) return nullptr;
    for (const Row& row : rows()) {
      if (row.metadata.operation != Rules::Arguments::operation) continue;
      made->of_entry_[row.entry - range.first] = Rules::profile(row, device);
    }
    return made;
  }

  std::uint32_t first_ = 0;
  std::unique_ptr<Profile[]> of_entry_;

  static inline constinit std::atomic<const Profiles*> known_[most_devices] = {};
};

/// The profile of a row's entry, of the table or not, computed once for each device as far as device_number
/// goes: in `computed` where it cannot be kept. @pre check_model(device)
template <class Rules>
const typename Rules::Profile& profile_of(const Row& row, const DeviceModel& device,
                                          typename Rules::Profile& computed) {
  using Profile = typename Rules::Profile;
  const std::optional<std::size_t> number = device_number(device);
  if (number && is_in_table(row.entry)) {
    if (const Profiles<Rules>* const profiles = Profiles<Rules>::on(*number)) return profiles->of(row);
  }
  std::atomic<const void*>* const kept =
      number && !is_in_table(row.entry) ? &own_profile(row.entry, *number) : nullptr;
  const void* there = kept != nullptr ? kept->load(std::memory_order_acquire) : nullptr;
  if (there != nullptr) return *static_cast<const Profile*>(there);
  computed = Rules::profile(row, kept != nullptr ? known_device(*number) : device);
  if (kept == nullptr) return computed;
  std::unique_ptr<const Profile> made(new (std::nothrow) Profile(computed));
  if (kept->compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) (void)made.release();
  return computed;
}

}  // namespace quarry::detail
