/// The compile-time parameters of one gemm_sm80 kernel, and what follows from them.
#pragma once

#include "common/config_parts.hpp"
#include "common/gemm_epilogue_layout.hpp"

namespace quarry::gemm_sm80 {

/// One kernel: multistage cp.async into swizzled shared memory, ldmatrix, mma.sync m16n8k16, staged epilogue.
struct Config {
  Types types;
  Layouts layouts;
  Tile tile;
  Warps warps;
  int stages;
  Alignment alignment;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Shape of the matrix instruction (PTX ISA, mma.m16n8k16).
inline constexpr Tile instruction = {16, 8, 16};

/// Threads of a block.
constexpr int threads(const Config& c) { return 32 * c.warps.m * c.warps.n * c.warps.k; }

/// Output tile of one warp, and the part of a stage's K that it multiplies.
constexpr Tile warp_tile(const Config& c) {
  return {c.tile.m / c.warps.m, c.tile.n / c.warps.n, c.tile.k / c.warps.k};
}

/// Bytes of one operand's tile in one stage.
constexpr int stage_bytes_a(const Config& c) { return c.tile.m * c.tile.k * bytes_of(c.types.a); }
constexpr int stage_bytes_b(const Config& c) { return c.tile.n * c.tile.k * bytes_of(c.types.b); }

/// Bytes of dynamic shared memory: the pipeline's stages, later used again to stage the epilogue.
constexpr int shared_memory_bytes(const Config& c) {
  const int pipeline = c.stages * (stage_bytes_a(c) + stage_bytes_b(c));
  const int epilogue = staging_bytes(staging_rows(c.tile, c.warps), c.tile.n, 4);
  return pipeline > epilogue ? pipeline : epilogue;
}

/// The config whose device code a row runs: a column-major output is its transpose, row-major.
constexpr Config entry(const Config& c) {
  if (c.layouts.out == Layout::row) return c;
  return {exchanged(c.types), exchanged(c.layouts),  exchanged(c.tile), exchanged(c.warps),
          c.stages,           exchanged(c.alignment)};
}

}  // namespace quarry::gemm_sm80
