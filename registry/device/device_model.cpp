#include "quarry/device_model.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>

#include "basic/text.hpp"
#include "calibrations.hpp"
#include "registry/device/device_model.hpp"
#include "registry/device/properties.hpp"
#include "registry/device/runtime.hpp"

namespace quarry {
namespace {

/// A kind of device that has a built-in model.
struct KnownDevice {
  /// What the driver calls it, or begins with: MIG slices and variants say more.
  std::string_view name;
  /// Bytes a second that reads reach.
  double memory_bandwidth = 0;
};

constexpr KnownDevice known_a100 = {"NVIDIA A100-SXM", 1.8e12};  // nine tenths of the data sheet's 2.04e12
constexpr KnownDevice known_h100 = {"NVIDIA H100 80GB HBM3", 3.0e12};  // nine tenths of 3.35e12
constexpr KnownDevice known_h200 = {"NVIDIA H200", 4.3e12};            // measured
constexpr KnownDevice known_devices[] = {known_a100, known_h100, known_h200};

/// The place of what was measured on a device of this kind, none if nothing was. (With sanitizers, GCC takes
/// no comparison of an element's address with null for a constant.)
constexpr std::optional<std::size_t> measured_on(const KnownDevice& device) {
  for (std::size_t i = 0; i < std::size(detail::calibrations); ++i)
    if (detail::calibrations[i].device.starts_with(device.name)) return i;
  return std::nullopt;
}

/// The factors for a device with this memory: of the measured device whose memory is the nearest in speed.
constexpr const Calibration& nearest_calibration(double memory_bandwidth) {
  std::optional<std::size_t> nearest;
  double least = 0;
  for (const KnownDevice& device : known_devices) {
    const std::optional<std::size_t> measured = measured_on(device);
    const double ratio =
        std::max(memory_bandwidth / device.memory_bandwidth, device.memory_bandwidth / memory_bandwidth);
    if (!measured || (nearest && ratio >= least)) continue;
    nearest = measured;
    least = ratio;
  }
  return detail::calibrations[*nearest].factors;
}

static_assert(measured_on(known_h200).has_value());

/// The default rates, most of which were fitted to an H200, stand for the A100 too: none was at hand to
/// measure. Counts and f16, f32 and f64 rates: NVIDIA A100 white paper.
constexpr DeviceModel a100 = {
    .name = "a100",
    .cc = 80,
    .multiprocessors = 108,
    .shared_memory_per_block = 163 * 1024,
    .shared_memory_per_multiprocessor = 164 * 1024,
    .l2_bytes = 40LL << 20,
    .memory_bandwidth = known_a100.memory_bandwidth,
    .clock = 1.41e9,
    .tensor_flops_per_clock = 2048,
    .fma_f32_flops_per_clock = 128,
    .fma_f64_flops_per_clock = 64,
    .rates = {.mma = {.f64_m8n8k4 = 2}, .calibration = nearest_calibration(known_a100.memory_bandwidth)},
};

/// Counts and FMA rates: NVIDIA H100 white paper and H200 data sheet.
constexpr DeviceModel h200 = {
    .name = "h200",
    .cc = 90,
    .multiprocessors = 132,
    .shared_memory_per_block = 227 * 1024,
    .shared_memory_per_multiprocessor = 228 * 1024,
    .l2_bytes = 60LL << 20,
    .memory_bandwidth = known_h200.memory_bandwidth,
    .clock = 1.98e9,
    .tensor_flops_per_clock = 2361,  // measured through mma.sync: 617e12 in all
    .fma_f32_flops_per_clock = 256,
    .fma_f64_flops_per_clock = 128,
    .rates = {.mma = {.f64_m8n8k4 = 1}, .calibration = nearest_calibration(known_h200.memory_bandwidth)},
};

/// The H200's chip with other memory.
constexpr DeviceModel h100 = [] {
  DeviceModel model = h200;
  model.name[1] = '1';
  model.l2_bytes = 50LL << 20;
  model.memory_bandwidth = known_h100.memory_bandwidth;
  model.rates.calibration = nearest_calibration(known_h100.memory_bandwidth);
  return model;
}();

constexpr DeviceModel built_in[] = {a100, h100, h200};

/// The built-in model of what the driver calls `name`, null when there is none.
const DeviceModel* built_in_model(std::string_view name) {
  static_assert(std::size(known_devices) == std::size(built_in));
  for (std::size_t i = 0; i < std::size(built_in); ++i)
    if (name.starts_with(known_devices[i].name)) return &built_in[i];
  return nullptr;
}

/// The kind of device that a model is of; null: none that is known.
const KnownDevice* kind_of(const DeviceModel& model) {
  for (std::size_t i = 0; i < std::size(built_in); ++i) {
    const std::string_view name = model.name;
    if (name == built_in[i].name || name.starts_with(known_devices[i].name)) return &known_devices[i];
  }
  return nullptr;
}

/// Operations a clock and multiprocessor by compute capability: data sheets, except what was measured. All
/// other rates but the calibration are the built-in model's of the architecture.
void set_rates(DeviceModel& model) {
  const bool small_chip =
      model.cc != 80 && model.cc / 10 == 8;  // 8.6, 8.7 and 8.9: half the tensor cores, hardly any f64
  model.tensor_flops_per_clock = model.cc >= 90 ? h200.tensor_flops_per_clock : small_chip ? 1024 : 2048;
  model.fma_f32_flops_per_clock = model.cc == 80 ? 128 : 256;
  model.fma_f64_flops_per_clock = small_chip ? 4 : model.cc == 80 ? 64 : 128;
  model.rates = model.cc >= 90 ? h200.rates : a100.rates;
}

/// Whether times that are made of a rate or of a cost are numbers.
bool is_rate(double value) { return value >= 1e-20 && value <= 1e20; }
bool is_rate_or_0(double value) { return value == 0 || is_rate(value); }

bool is_complete(const MemoryRates& r) {
  const double above_0[] = {r.thread_copies.clocks_per_byte,
                            r.thread_copies.latency,
                            r.bulk_copies.clocks_per_byte,
                            r.bulk_copies.latency,
                            r.alone_share,
                            r.shared_bytes_per_clock,
                            r.partial_sums_speedup,
                            r.copy_share};
  const double others[] = {r.device_latency, r.split_lines, r.crowded_lines, r.kept_operand_bytes};
  return std::ranges::all_of(above_0, is_rate) && std::ranges::all_of(others, is_rate_or_0);
}

bool is_complete(const TimeFactors& f) {
  const double all[] = {f.launch, f.memory,   f.math,     f.copies,   f.latency,
                        f.ends,   f.epilogue, f.exchange, f.reduction};
  return std::ranges::all_of(all, is_rate);
}

bool is_complete(const DeviceRates& r) {
  const MmaRates& mma = r.mma;
  const LaunchCosts& launch = r.launch;
  const ExchangeCosts& exchange = r.exchange;
  const double above_0[] = {mma.tf32,
                            mma.int8,
                            mma.f64_m16n8k16,
                            r.wgmma.flops_per_clock,
                            r.wgmma.tf32,
                            r.wgmma.int8,
                            r.dp4a_ops_per_clock,
                            launch.first,
                            launch.next,
                            launch.overlapped,
                            launch.overlapped_reduction,
                            launch.reduction,
                            launch.copy,
                            exchange.turn,
                            exchange.cluster_turn,
                            exchange.cluster_slice,
                            exchange.cluster_round};
  return std::ranges::all_of(above_0, is_rate) && is_rate_or_0(mma.f64_m8n8k4) && is_complete(r.memory) &&
         is_complete(r.calibration.simt) && is_complete(r.calibration.mma) &&
         is_complete(r.calibration.wgmma);
}

bool is_between(int value, int least, int most) { return value >= least && value <= most; }

/// Models of this machine's devices. Constant-initialised: nothing happens at start-up.
constexpr int most_devices = 64;
struct Slot {
  std::atomic<bool> known = false;
  DeviceModel model;
};
constinit Slot slots[most_devices];
constinit std::mutex slots_mutex;

}  // namespace

std::span<const DeviceModel> device_models() { return built_in; }

bool is_complete(const DeviceModel& d) {
  // Kernels divide the registers among up to 512 threads or more, and add up shared memory as ints.
  constexpr int most_shared = 1 << 28;
  const int shared = d.shared_memory_per_multiprocessor;
  const double rates[] = {d.memory_bandwidth, d.clock, d.tensor_flops_per_clock, d.fma_f32_flops_per_clock,
                          d.fma_f64_flops_per_clock};
  return is_between(d.multiprocessors, 1, 4096) && is_between(d.shared_memory_per_block, 1, most_shared) &&
         is_between(shared, 1, most_shared) && is_between(d.reserved_shared_memory, 0, shared) &&
         is_between(d.registers_per_multiprocessor, 1 << 14, 1 << 24) &&
         is_between(d.threads_per_multiprocessor, 1024, 1 << 16) && d.blocks_per_multiprocessor > 0 &&
         d.registers_per_thread > 0 && std::ranges::all_of(rates, is_rate) && is_complete(d.rates);
}

CalibrationSource calibration_source(const DeviceModel& model) {
  const auto* const measured =
      std::ranges::find(detail::calibrations, model.rates.calibration, &detail::MeasuredCalibration::factors);
  if (measured == std::end(detail::calibrations)) return {};
  const KnownDevice* const kind = kind_of(model);
  const DeviceModel* const like = built_in_model(measured->device);
  return {.device = measured->device,
          .is_own = kind != nullptr && measured->device.starts_with(kind->name),
          .is_same_architecture = like != nullptr && like->cc == model.cc};
}

Result<DeviceModel> find_device_model(std::string_view name) {
  std::string_view names[std::size(built_in)];
  for (std::size_t i = 0; i < std::size(built_in); ++i) {
    names[i] = built_in[i].name;
    if (names[i] == name) return built_in[i];
  }
  return Status(StatusCode::not_found,
                "Unknown device model " + detail::quoted(name) + ": there are " + detail::join(names, "and"));
}

Result<DeviceModel> device_model(int device) {
  const DeviceModel* const model = detail::cached_device_model(device);
  if (model != nullptr) return *model;
  if (Status status = detail::device_status(device); !status) return status;
  return Status(StatusCode::no_device, "The driver does not describe CUDA device " + std::to_string(device));
}

const DeviceModel& default_device_model() {
  const DeviceModel* const model = detail::cached_device_model(0);
  return model != nullptr ? *model : built_in[2];
}

DeviceModel detail::model_of(const DeviceProperties& p) {
  DeviceModel model;
  const std::string_view name = p.name;
  name.substr(0, sizeof model.name - 1).copy(model.name, sizeof model.name);
  model.cc = p.cc;
  model.multiprocessors = p.multiprocessors;
  model.shared_memory_per_block = p.shared_memory_per_block;
  model.shared_memory_per_multiprocessor = p.shared_memory_per_multiprocessor;
  model.registers_per_multiprocessor = p.registers_per_multiprocessor;
  model.threads_per_multiprocessor = p.threads_per_multiprocessor;
  model.l2_bytes = p.l2_bytes;
  model.clock = p.clock;
  model.memory_bandwidth = 0.9 * p.peak_memory_bandwidth;  // what reads reach on an H200: 4.3e12 of 4.8e12
  set_rates(model);
  model.rates.calibration = nearest_calibration(model.memory_bandwidth);
  if (const DeviceModel* const known = built_in_model(p.name); known != nullptr && known->cc == p.cc) {
    // A slice of the device has its share of the bandwidth.
    const double share = std::min(1.0, static_cast<double>(p.multiprocessors) / known->multiprocessors);
    model.memory_bandwidth = share * known->memory_bandwidth;
    model.clock = known->clock;
    model.rates.calibration = known->rates.calibration;
  }
  return model;
}

bool detail::is_lasting(const DeviceModel& model) {
  const auto* const at = reinterpret_cast<const std::byte*>(&model);
  const auto within = [at](const void* first, std::size_t bytes) {
    const auto* const begin = static_cast<const std::byte*>(first);
    return std::greater_equal<>()(at, begin) && std::less<>()(at, begin + bytes);
  };
  return within(built_in, sizeof built_in) || within(slots, sizeof slots);
}

const DeviceModel* detail::cached_device_model(int ordinal) {
  if (ordinal < 0 || ordinal >= std::min(device_count(), most_devices)) return nullptr;
  Slot& slot = slots[ordinal];
  if (slot.known.load(std::memory_order_acquire)) return &slot.model;
  const std::lock_guard lock(slots_mutex);
  if (slot.known.load(std::memory_order_relaxed)) return &slot.model;
  const Result<DeviceProperties> properties = device_properties(ordinal);
  if (!properties) return nullptr;
  slot.model = model_of(*properties);
  slot.known.store(true, std::memory_order_release);
  return &slot.model;
}

}  // namespace quarry
