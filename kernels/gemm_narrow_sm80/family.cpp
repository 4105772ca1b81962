#include <algorithm>

#include "gemm/common_family.hpp"
#include "gemm_narrow_sm80/describe.hpp"

namespace quarry::gemm_narrow_sm80 {
namespace {

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

// The numbers below were set by hand, so that the times of 1, 16, 64 and 1024 rows beside 8192 x 8192 weights
// of bf16 x s4 come out about right: 21.5, 24.9, 51.4 and 658 microseconds on an H200.

/// By how much products take longer for the conversion of weights, and for their smaller part of a warp's
/// registers.
constexpr double converted = 2.4;
/// By how much copies take longer where threads convert what they copied.
constexpr double copied_beside = 2.3;
/// Clocks of a stage of one warp beside its products: fragments, conversions, the barrier.
constexpr int stage_latency = 700;
/// Registers of a thread beside sums.
constexpr int other_registers = 70;

// Those of direct loads, likewise, by one and by eight rows of ten matrices on an H200: from 2048 x 2048, 4.9
// microseconds, to 28672 x 8192, 50.

/// Clocks of a multiprocessor for a weight that a lane reads, converts and multiplies.
constexpr double direct_weight = 0.05;
/// Clocks from one piece of a lane to the next.
constexpr int direct_latency = 1270;
/// The share of the ends of tiles that is left where no pipeline fills.
constexpr double direct_ends = 0.5;

class GemmNarrowSm80 final : public CommonGemmFamily {
 public:
  GemmProfile profile(const void* config, const DeviceModel& device) const override {
    GemmProfile profile = CommonGemmFamily::profile(config, device);
    if (!loads_directly(config_of(config))) return profile;
    const DeviceRates& rates = device.rates;
    profile.launch = rates.calibration.wgmma.launch * rates.launch.overlapped;
    profile.ends *= direct_ends;
    return profile;
  }

  void launch(const void* config, const GemmProblem& problem, const ChosenControls& controls,
              Launch& launch) const override {
    CommonGemmFamily::launch(config, problem, controls, launch);
    if (loads_directly(config_of(config)) && !launch.is_empty())
      std::ranges::find(launch.steps, Step::Kind::kernel, &Step::kind)->waits_for_earlier = true;
  }

 private:
  GemmTraits traits(const void* config) const override {
    const Config& c = config_of(config);
    return {.tile = c.tile,
            .layouts = c.layouts,
            .alignment = alignment(c),
            .accumulator = c.types.accumulator,
            .out = c.types.out,
            .threads = threads(c),
            .shared_memory = shared_memory_bytes(c),
            .scales = c.scales};
  }

  BlockCost block_cost(const void* config, const DeviceModel& device) const override {
    const Config& c = config_of(config);
    if (loads_directly(c)) return direct_cost(c, device);
    const MemoryRates& memory = device.rates.memory;
    const int copied = c.warps.k * stage_bytes(c);
    const int read = c.warps.k * (stage_bytes_b(c) + c.warps.n * stage_bytes_a(c));
    const int sums = 2 * c.tile.m * (c.tile.n / c.warps.n) / 32;
    return {.math = 2.0 * c.tile.m * c.tile.n * c.tile.k / (device.tensor_flops_per_clock / converted),
            .shared = (copied + read) / memory.shared_bytes_per_clock,
            .copy = copied_beside * copied * memory.thread_copies.clocks_per_byte,
            .latency = memory.thread_copies.latency / (c.stages - 1) + stage_latency,
            .registers = sums + other_registers,
            .factors = device.rates.calibration.mma};
  }

  static BlockCost direct_cost(const Config& c, const DeviceModel& device) {
    return {.math = direct_weight * c.tile.n * c.tile.k,
            .shared = 0,
            .copy = 0,
            .latency = direct_latency,
            .registers = 65536 / (threads(c) * std::max(least_blocks(c), 1)),
            .factors = device.rates.calibration.mma};
  }
};

constinit const GemmNarrowSm80 instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::gemm_narrow_sm80
