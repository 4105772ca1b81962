#include "registry/query/profiles.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "registry/device/device_model.hpp"

namespace quarry::detail {
namespace {

/// Filled from the front; what is in it stays.
constinit std::array<std::atomic<const DeviceModel*>, most_devices> known = {};

auto numbers(const DeviceModel& d) {
  return std::tie(d.cc, d.multiprocessors, d.shared_memory_per_block, d.shared_memory_per_multiprocessor,
                  d.registers_per_multiprocessor, d.threads_per_multiprocessor, d.l2_bytes,
                  d.memory_bandwidth, d.clock, d.tensor_flops_per_clock, d.fma_f32_flops_per_clock,
                  d.fma_f64_flops_per_clock, d.blocks_per_multiprocessor, d.registers_per_thread,
                  d.reserved_shared_memory, d.rates);
}

/// Whether two models say the same. Mostly they are copies, whose bytes tell sooner; where these differ, the
/// members are compared.
bool is_same(const DeviceModel& one, const DeviceModel& other) {
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
  return std::memcmp(&one, &other, sizeof one) == 0 || numbers(one) == numbers(other);
}

std::optional<std::size_t> number_by_value(const DeviceModel& device) {
  std::unique_ptr<const DeviceModel> made;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const DeviceModel* there = known[i].load(std::memory_order_acquire);
    if (there == nullptr) {
      if (made == nullptr) made.reset(new (std::nothrow) DeviceModel(device));
      if (made == nullptr) return std::nullopt;
      if (known[i].compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) {
        (void)made.release();
        return i;
      }
    }
    if (is_same(*there, device)) return i;  // another thread may just have put it there
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> device_number(const DeviceModel& device) {
  if (!is_lasting(device)) return number_by_value(device);
  thread_local const DeviceModel* last = nullptr;
  thread_local std::optional<std::size_t> number;
  if (last != &device) {
    number = number_by_value(device);
    last = &device;
  }
  return number;
}

const DeviceModel& known_device(std::size_t number) { return *known[number].load(std::memory_order_acquire); }

EntryRange entries_of(Operation operation) {
  EntryRange range = {static_cast<std::uint32_t>(entries().size()), 0};
  for (const Row& row : rows()) {
    if (row.metadata.operation != operation) continue;
    range.first = std::min(range.first, row.entry);
    range.last = std::max(range.last, row.entry + 1);
  }
  if (range.last < range.first) return {0, 0};
  return range;
}

}  // namespace quarry::detail
