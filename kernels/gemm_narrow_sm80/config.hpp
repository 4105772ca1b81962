/// The compile-time parameters of one gemm_narrow_sm80 kernel, and what follows from them.
#pragma once

#include "common/config_parts.hpp"
#include "common/epilogue_layout.hpp"
#include "gemm/params.hpp"

namespace quarry::gemm_narrow_sm80 {

/// How weights reach the lanes that multiply them.
enum class WeightLoads : unsigned char {
  staged,  ///< by copies to shared memory
  direct,  ///< each lane reads its own from memory, ahead of their use
};

/// One kernel: weights of half a byte or of a byte (B, contiguous along K) become f16 or bf16 in registers,
/// where they are the left operand of the matrix instruction, so that few rows of A fill the short side of
/// it. Each group of warps along K has a pipeline of its own. Where loads are direct, `stages` counts what a
/// lane holds of K: what it multiplies, and what is on its way.
struct Config {
  Types types;
  Layouts layouts;
  Tile tile;
  /// One along M; warps along N share the rows of A that they multiply.
  Warps warps;
  int stages;
  ScaleSupport scales = ScaleSupport::group_scales;
  WeightLoads loads = WeightLoads::staged;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Positions of K of a stage of one group of warps: 64 or 128 bytes of a column of B, whole sectors of
/// memory.
inline constexpr int stage_k = 128;

/// Bits of a weight: 4 or 8.
constexpr int weight_bits(const Config& c) { return bits_of(c.types.b); }

constexpr bool loads_directly(const Config& c) { return c.loads == WeightLoads::direct; }

/// Whether zero points are taken off weights.
constexpr bool has_zeros(const Config& c) { return c.scales == ScaleSupport::zero_points; }

/// Groups of K of a stage that may have scales of their own.
inline constexpr int stage_groups = stage_k / least_scale_group;

/// Threads of a block, and of one group along K.
constexpr int group_threads(const Config& c) { return 32 * c.warps.n; }
constexpr int threads(const Config& c) { return group_threads(c) * c.warps.k; }

/// Blocks with direct loads that a multiprocessor holds at once: 512 threads with 128 registers each.
constexpr int least_blocks(const Config& c) {
  return loads_directly(c) && threads(c) < 512 ? 512 / threads(c) : 0;
}

/// Bytes of a stage: columns of B, rows of A, and the scales of the columns, for each least group of K, each
/// with its zero point twice, as a pair of numbers of A's type.
constexpr int stage_bytes_b(const Config& c) { return c.tile.n * stage_k * weight_bits(c) / 8; }
constexpr int stage_bytes_a(const Config& c) { return c.tile.m * stage_k * 2; }
constexpr int stage_bytes_scales(const Config& c) { return c.tile.n * stage_groups * 4; }
constexpr int stage_bytes_zeros(const Config& c) { return has_zeros(c) ? c.tile.n * stage_groups * 4 : 0; }
constexpr int stage_bytes(const Config& c) {
  return stage_bytes_b(c) + stage_bytes_a(c) + stage_bytes_scales(c) + stage_bytes_zeros(c);
}

/// Where zero points begin in a stage.
constexpr int zeros_offset(const Config& c) { return stage_bytes(c) - stage_bytes_zeros(c); }

/// Bytes of the sums of one group of warps in shared memory, on their way to the output.
constexpr int sums_bytes(const Config& c) { return staging_bytes(c.tile.m, c.tile.n, 4); }

/// Bytes of dynamic shared memory: the stages of all groups, if there are any, later used again for their
/// sums.
constexpr int shared_memory_bytes(const Config& c) {
  const int pipeline = loads_directly(c) ? 0 : c.warps.k * c.stages * stage_bytes(c);
  const int epilogue = c.warps.k * sums_bytes(c);
  return pipeline > epilogue ? pipeline : epilogue;
}

/// The config whose device code a row runs.
constexpr Config entry(const Config& c) { return c; }

}  // namespace quarry::gemm_narrow_sm80
