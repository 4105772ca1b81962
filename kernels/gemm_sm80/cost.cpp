#include "gemm_sm80/cost.hpp"

#include <algorithm>

namespace quarry::gemm_sm80 {
namespace {

// The numbers of the model that do not belong to the device were set by hand with the first kernels
// (gemm/estimate.cpp): no measurements, unless they say so.

/// Clocks of a multiprocessor for the copy of one element in pieces shorter than 16 bytes: each instruction
/// of a warp copies 32 of them. Pieces of 8 and 4 bytes go by cp.async, two bytes through registers. Fitted
/// to 600 times of 79 problems with operands of 16 bits on an H200. Their predictions are as far off now as
/// for pieces of 16 bytes.
double copy_clocks(int alignment, int element_bytes) {
  const int piece = alignment * element_bytes;
  const double clocks = piece >= 16 ? 0 : piece == 8 ? 8.6 : piece == 4 ? 5.8 : 6;
  return clocks / (32 * alignment);
}

/// By how much products take longer whose operands become of a 16-bit type, by conversions in the main loop.
constexpr double converted = 1.5;
/// 3xTF32: three products, and half the time of one to split the operands.
constexpr double split_tf32 = 3.5;
/// Clocks that a step of a K tile waits for its fragments, and a K tile for its barrier.
constexpr int step_latency = 20;
constexpr int tile_latency = 30;
/// Registers of a thread beside sums and fragments.
constexpr int other_registers = 40;
/// Instructions that promote a sum (an estimate: convert, multiply scales, add), and the
/// instructions of a multiprocessor's lanes in a cycle.
constexpr double promotion_instructions = 3;
constexpr double lane_instructions = 128;

/// Cycles in which a K tile's share of a block's sums is promoted.
double promotion_cycles(const Config& c) {
  if (c.scales != ScaleSupport::block_scales) return 0;
  return promotion_instructions * c.tile.m * c.tile.n * c.tile.k / (scale_block * lane_instructions);
}

/// f64 relative to FMA.
double f64_rate(const Config& c, const DeviceModel& device) {
  const MmaRates& mma = device.rates.mma;
  if (has_long_f64(c)) return mma.f64_m16n8k16;
  if (mma.f64_m8n8k4 > 0) return mma.f64_m8n8k4;
  return device.cc < 90 ? 2 : 1;
}

/// Operations that the tensor cores of a multiprocessor do in a cycle, as the config uses them.
double math_rate(const Config& c, const DeviceModel& device) {
  const double rate = device.tensor_flops_per_clock;
  if (c.types.a == DType::f64) return device.fma_f64_flops_per_clock * f64_rate(c, device);
  if (is_mixed(c.types)) return rate / converted;
  if (is_byte(c.types.a)) return device.rates.mma.int8 * rate;
  switch (c.math) {
    case Math::fast_tf32: return rate * device.rates.mma.tf32;
    case Math::fast_f32: return rate * device.rates.mma.tf32 / split_tf32;
    case Math::fast_f16:
    case Math::fast_bf16: return rate / converted;
    default: return rate;
  }
}

Status check_line_stride(const GemmProblem& problem, Operand name, long long line_stride, int extent) {
  if (line_stride >= extent) return {};
  return {StatusCode::unsupported, Reason::overlapping_stride, callers(name, problem), extent, line_stride};
}

}  // namespace

GemmTraits traits(const Config& c) {
  return {.tile = c.tile,
          .layouts = c.layouts,
          .alignment = c.alignment,
          .accumulator = c.types.accumulator,
          .out = c.types.out,
          .threads = threads(c),
          .shared_memory = shared_memory_bytes(c),
          .schedule = c.schedule,
          .most_k = c.epilogue == EpilogueKind::fast_clamp ? fast_clamp_most_k : 0,
          .scales = c.scales,
          .cuts_in_parallel = has_partials(c)};
}

BlockCost block_cost(const Config& c, const DeviceModel& device) {
  const Tile& t = c.tile;
  const Warps& w = c.warps;
  const MemoryRates& memory = device.rates.memory;
  const int a = bytes_of(c.types.a);
  const int b = bytes_of(c.types.b);
  const int copied = t.k * (a * t.m + b * t.n);
  const int read = t.k * (a * t.m * w.n + b * t.n * w.m);  // each warp along N reads all of its rows of A
  const double clocks = memory.thread_copies.clocks_per_byte;
  const double copy_a = std::max(a * clocks, copy_clocks(c.alignment.a, a));
  const double copy_b = std::max(b * clocks, copy_clocks(c.alignment.b, b));
  const Tile warp = warp_tile(c);
  const int sets = c.scales == ScaleSupport::block_scales ? 2 : 1;
  const int sums =
      sets * warp.m * warp.n / (c.types.accumulator == DType::f16 ? 64 : 32) * (compute_bytes(c) / 4);
  // Two sets, of a step's bytes a row and column (32, but of f64 by m16n8k8 and m16n8k16) for 32 lanes.
  const int fragments = (warp.m + warp.n) * step_k(c) * std::max(a, b) / 64;
  return {.math = 2 * t.m * t.n * t.k / math_rate(c, device) + promotion_cycles(c),
          .shared = (copied + read) / memory.shared_bytes_per_clock,
          .copy = t.k * (t.m * copy_a + t.n * copy_b),
          .latency = memory.thread_copies.latency / (c.stages - 1) + step_latency * (warp.k / step_k(c)) +
                     tile_latency,
          .registers = sums + fragments + other_registers,
          .factors = device.rates.calibration.mma};
}

Status check_lines(const GemmTraits& kernel, const GemmProblem& problem) {
  if (problem.k <= kernel.tile.k) return {};
  if (kernel.layouts.a == Layout::column && kernel.alignment.a > 1) {
    Status status = check_line_stride(problem, Operand::a, problem.a.matrix.column_stride, problem.m);
    if (!status) return status;
  }
  if (kernel.layouts.b == Layout::row && kernel.alignment.b > 1) {
    return check_line_stride(problem, Operand::b, problem.b.matrix.row_stride, problem.n);
  }
  return {};
}

}  // namespace quarry::gemm_sm80
