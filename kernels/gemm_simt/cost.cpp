#include "gemm_simt/cost.hpp"

#include <algorithm>

#include "gemm_simt/pipeline_cost.hpp"

namespace quarry::gemm_simt {
namespace {

// The numbers of the model were set by hand with the first kernels (gemm/estimate.cpp): no measurements.

/// The share of FMA instructions in a main loop: beside them stand loads and addresses.
constexpr double fma_share = 0.7;
/// Clocks that a warp needs to copy an element for each lane, through registers, with an address each.
constexpr int copy_clocks = 8;
/// Clocks that a step of a K tile waits for its fragments.
constexpr int step_latency = 30;
/// Registers of a thread beside sums and fragments.
constexpr int other_registers = 40;

/// Multiplications and additions a clock and multiprocessor.
double operations_per_clock(const Config& c, const DeviceModel& device) {
  if (is_integer(c.types.accumulator)) return device.rates.dp4a_ops_per_clock;
  return compute_bytes(c) == 8 ? device.fma_f64_flops_per_clock : device.fma_f32_flops_per_clock;
}

}  // namespace

GemmTraits traits(const Config& c) {
  const Alignment aligned = alignment(c);
  const Alignment needed = {aligned.a > 1 ? aligned.a : 0, aligned.b > 1 ? aligned.b : 0};  // 0: any strides
  GemmTraits kernel = {
      c.tile, c.layouts, needed, c.types.accumulator, c.types.out, threads(c), shared_memory_bytes(c)};
  kernel.scales = c.scales;
  kernel.cuts_in_parallel = has_partials(c);
  return kernel;
}

BlockCost block_cost(const Config& c, const DeviceModel& device) {
  if (is_pipelined(c)) return pipeline_cost(c, device);
  const Tile& t = c.tile;
  const int words = compute_bytes(c) / 4;
  const double rate = operations_per_clock(c, device);
  const int copied = t.k * (t.m * bits_of(c.types.a) + t.n * bits_of(c.types.b)) / 8;
  const int read = threads(c) * (c.thread_m + c.thread_n) * k_steps(c) * words;
  const int written = k_steps(c) * (t.m + t.n) * words;
  const double issue = t.k * (t.m + t.n) / 32 * copy_clocks;
  const MemoryRates& memory = device.rates.memory;
  return {.math = 2 * t.m * t.n * t.k / (fma_share * rate),
          .shared = (read + written) * 4.0 / memory.shared_bytes_per_clock,
          .copy = std::max(copied * memory.thread_copies.clocks_per_byte, issue),
          .latency = memory.thread_copies.latency + step_latency * k_steps(c),
          .registers = (c.thread_m * c.thread_n + c.thread_m + c.thread_n) * words + other_registers,
          .factors = device.rates.calibration.simt};
}

}  // namespace quarry::gemm_simt
