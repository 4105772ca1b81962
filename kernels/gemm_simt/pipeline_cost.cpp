#include "gemm_simt/pipeline_cost.hpp"

#include <algorithm>

namespace quarry::gemm_simt {
namespace {

// The numbers come from times of an H200: of 18 problems of f32 with 1 to 4,096 rows in four layouts. Those
// of math, shared memory, latency and sums are relative: calibration multiplies their times by factors that
// were fitted to kernels whose operands pass through registers.

/// With it, 4096x4096x4096 is predicted as it was measured: 2,700 us by words, 2,640 by vectors.
constexpr double fma_share = 1.34;
/// Instructions for each copy, its address and mask among them, which take the place of products.
constexpr double copy_instructions = 2.5;
/// Clocks of a copy of a word or a vector for each lane; more where a warp's words are of several lines.
constexpr int word_clocks = 8;
constexpr int strided_word_clocks = 10;
constexpr int vector_clocks = 16;
/// Clocks that a K tile waits for its barrier.
constexpr int barrier_latency = 30;
/// Where blocks share a multiprocessor, one that is alone has one or two warps a math unit, which do not hide
/// their waits: clocks of a step for each product of a math unit's threads, and beside them.
constexpr double lone_product = 3.5;
constexpr double lone_step = 62;
constexpr int math_units = 4;
constexpr int math_unit_threads = 32 * math_units;  ///< of a block, for one warp a math unit
constexpr double shared_share = 0.78;
constexpr double reduction_share = 0.33;
/// Registers of a thread beside sums and fragments.
constexpr int other_registers = 40;

/// How both operands' parts of a K tile are copied.
struct Copies {
  double instructions;  ///< of a warp
  double clocks;
};
Copies copies_of(const Config& c, int extent, bool k_contiguous, int elements) {
  const double instructions = static_cast<double>(c.tile.k * extent) / (32 * elements);
  if (elements > 1) return {instructions, instructions * vector_clocks};
  return {instructions, instructions * (k_contiguous ? strided_word_clocks : word_clocks)};
}
Copies copies_of(const Config& c) {
  const Alignment copied = alignment(c);
  const Copies a = copies_of(c, c.tile.m, has_contiguous_rows(c.layouts.a), copied.a);
  const Copies b = copies_of(c, c.tile.n, !has_contiguous_rows(c.layouts.b), copied.b);
  return {a.instructions + b.instructions, a.clocks + b.clocks};
}

/// Least clocks of a K tile of a block that is alone.
double latency(const Config& c) {
  if (least_blocks(c) < 2) return barrier_latency;
  const double products = static_cast<double>(c.thread_m * c.thread_n * threads(c)) / math_unit_threads;
  return barrier_latency + k_steps(c) * (lone_product * products + lone_step);
}

/// Registers of a thread: all that it may have where blocks must share a multiprocessor.
int registers(const Config& c, const DeviceModel& device) {
  const int blocks = least_blocks(c);
  if (blocks > 1) return device.registers_per_multiprocessor / (blocks * threads(c));
  return c.thread_m * c.thread_n + c.thread_m + c.thread_n + other_registers;
}

TimeFactors factors(const DeviceModel& device) {
  TimeFactors factors = device.rates.calibration.simt;
  factors.reduction *= reduction_share;
  return factors;
}

}  // namespace

BlockCost pipeline_cost(const Config& c, const DeviceModel& device) {
  const Tile& t = c.tile;
  const Copies copies = copies_of(c);
  const double products = 2.0 * t.m * t.n * t.k / device.fma_f32_flops_per_clock;
  const int read = threads(c) * (c.thread_m + c.thread_n) * t.k;
  const int written = t.k * (t.m + t.n);
  constexpr int word = 4;
  const MemoryRates& memory = device.rates.memory;
  return {.math = (products + copies.instructions * copy_instructions / math_units) / fma_share,
          .shared = shared_share * (read + written) * word / memory.shared_bytes_per_clock,
          .copy = std::max(written * word * memory.thread_copies.clocks_per_byte, copies.clocks),
          .latency = latency(c),
          .registers = registers(c, device),
          .factors = factors(device)};
}

}  // namespace quarry::gemm_simt
