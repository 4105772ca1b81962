#include "registry/query/offers.hpp"

#include <bit>
#include <string>

#include "operations/common/tensor_checks.hpp"
#include "registry/device/device_model.hpp"
#include "registry/query/own_kernels.hpp"

namespace quarry::detail {

Verdict check_predicate(const Row& row, const KnownExpression& expression, const DeviceModel& device,
                        const Filter& filter, const FindOptions& options) {
  const bool needs_code = options.availability == Availability::precompiled;
  if (needs_code && !has_machine_code(row, expression, device.cc)) return Verdict::not_precompiled;
  return filter(row.metadata) ? Verdict::taken : Verdict::filtered;
}

std::vector<RankKey> ranked(std::span<const Offer> offers, Order order) {
  // Bits of positive floats are ordered as the floats are; the index below them settles ties.
  std::vector<RankKey> keys(offers.size());
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const std::uint64_t time =
        order == Order::best_first ? std::bit_cast<std::uint32_t>(offers[i].seconds()) : 0;
    keys[i] = time << 32 | i;
  }
  if (order == Order::best_first) sort_keys(keys);
  return keys;
}

const DeviceModel& model_for(const OperandList& operands) {
  for (const OperandRef& operand : operands) {
    const Memory& memory = operand.view->memory;
    if (memory.kind != MemoryKind::device) continue;
    if (const DeviceModel* const model = cached_device_model(memory.device)) return *model;
  }
  return default_device_model();
}

Status check_options(const FindOptions& options) {
  const auto unknown = [](const char* option, auto value) {
    return invalid(std::string("Option `") + option + "` has the unknown value " +
                   std::to_string(static_cast<int>(value)));
  };
  if (options.order > Order::registry) return unknown("order", options.order);
  if (options.availability > Availability::precompiled) return unknown("availability", options.availability);
  return {};
}

Status check_model(const DeviceModel& d) {
  if (is_lasting(d) || is_complete(d)) return {};
  return invalid(
      "The device model is incomplete: expected speeds above 0, and sizes of a device: at most 4096 "
      "multiprocessors, each with 16384 registers and 1024 threads or more (is_complete says all)");
}

}  // namespace quarry::detail
