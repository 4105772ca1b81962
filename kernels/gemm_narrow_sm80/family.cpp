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

class GemmNarrowSm80 final : public CommonGemmFamily {
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
};

constinit const GemmNarrowSm80 instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::gemm_narrow_sm80
