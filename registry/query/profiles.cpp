#include "registry/query/profiles.hpp"

#include <array>
#include <atomic>
#include <new>
#include <tuple>

#include "operations/common/row.hpp"
#include "registry/query/own_entries.hpp"

namespace quarry::detail {
namespace {

/// Filled from the front; what is in it stays.
constinit std::array<std::atomic<const DeviceProfiles*>, most_devices> known = {};

auto numbers(const DeviceModel& d) {
  return std::tie(d.cc, d.multiprocessors, d.shared_memory_per_block, d.shared_memory_per_multiprocessor,
                  d.registers_per_multiprocessor, d.threads_per_multiprocessor, d.l2_bytes,
                  d.memory_bandwidth, d.clock, d.tensor_flops_per_clock, d.fma_f32_flops_per_clock,
                  d.fma_f64_flops_per_clock);
}

std::unique_ptr<DeviceProfiles> compute(const DeviceModel& device) {
  std::unique_ptr<DeviceProfiles> profiles(new (std::nothrow) DeviceProfiles{device, 0, nullptr});
  if (profiles == nullptr) return nullptr;
  profiles->of_entry.reset(new (std::nothrow) GemmProfile[entries().size()]);
  if (profiles->of_entry == nullptr) return nullptr;
  for (const Row& row : rows()) {
    if (row.metadata.operation != Operation::gemm) continue;  // others are asked without one
    profiles->of_entry[row.entry] = gemm_family(row).profile(row.entry_config, device);
  }
  return profiles;
}

}  // namespace

const DeviceProfiles* profiles_on(const DeviceModel& device) {
  std::unique_ptr<DeviceProfiles> computed;
  for (std::size_t i = 0; i < known.size(); ++i) {
    std::atomic<const DeviceProfiles*>& place = known[i];
    const DeviceProfiles* there = place.load(std::memory_order_acquire);
    if (there == nullptr) {
      if (computed == nullptr) computed = compute(device);
      if (computed == nullptr) return nullptr;
      computed->number = i;
      if (place.compare_exchange_strong(there, computed.get(), std::memory_order_acq_rel))
        return computed.release();
    }
    if (numbers(there->device) == numbers(device)) return there;  // another thread may just have put it there
  }
  return nullptr;
}

const GemmProfile& profile_of(const Row& row, const DeviceModel& device, GemmProfile& computed) {
  const DeviceProfiles* const profiles = profiles_on(device);
  if (profiles != nullptr && is_in_table(row.entry)) return profiles->of_entry[row.entry];
  std::atomic<const GemmProfile*>* kept = nullptr;
  if (profiles != nullptr) {
    kept = &own_profile(row.entry, profiles->number);
    if (const GemmProfile* const there = kept->load(std::memory_order_acquire)) return *there;
  }
  computed = gemm_family(row).profile(row.entry_config, device);
  if (kept != nullptr) {
    std::unique_ptr<const GemmProfile> made(new (std::nothrow) GemmProfile(computed));
    const GemmProfile* nobody = nullptr;  // has put one there before
    if (kept->compare_exchange_strong(nobody, made.get(), std::memory_order_acq_rel)) (void)made.release();
  }
  return computed;
}

}  // namespace quarry::detail
