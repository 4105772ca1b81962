/// The compile-time parameters of one gemm_sm80 kernel, and what follows from them.
#pragma once

#include "common/config_parts.hpp"
#include "common/epilogue_layout.hpp"
#include "common/interleaved.hpp"
#include "common/operand_tile.cuh"

namespace quarry::gemm_sm80 {

/// Which matrix instruction multiplies, where there is a choice.
enum class Instruction : unsigned char {
  usual,    ///< the longest along K that 8.0 has for the types
  m16n8k8,  ///< f16 and bf16: half as long along K, so that fewer products are added before a sum is rounded.
            ///< f64: as m16n8k16, with half its operands in registers, so that a warp can have a larger tile
  m16n8k16,  ///< f64: twice as fast as the usual one, on 9.0 only
};

/// One kernel: multistage cp.async into swizzled shared memory, warps' matrix instructions (mma.sync), staged
/// epilogue.
struct Config {
  Types types;
  Layouts layouts;
  Tile tile;
  Warps warps;
  int stages;
  Alignment alignment;
  Math math = Math::exact;
  Instruction instruction = Instruction::usual;
  EpilogueKind epilogue = EpilogueKind::standard;
  /// one_tile or stream_k.
  Schedule schedule = Schedule::one_tile;
  /// Of A and B: vectors multiply the sums of a tile, blocks multiply the sums of each 128 of K.
  ScaleSupport scales = ScaleSupport::none;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Shape of the matrix instruction (PTX ISA, mma.m16n8k32, m16n8k16, m16n8k8 and m8n8k4).
constexpr Tile instruction_shape(const Config& c) {
  if (c.instruction == Instruction::m16n8k8) return {16, 8, 8};
  if (c.instruction == Instruction::m16n8k16) return {16, 8, 16};
  if (c.types.a == DType::f64) return {8, 8, 4};
  if (is_byte(c.types.a) && is_byte(c.types.b)) return {16, 8, 32};
  const bool tf32 = c.math == Math::fast_tf32 || c.math == Math::fast_f32;
  return {16, 8, tf32 ? 8 : 16};
}

/// Whether a matrix instruction of f64 multiplies that only 9.0 has.
constexpr bool has_long_f64(const Config& c) {
  return c.types.a == DType::f64 && c.instruction != Instruction::usual;
}

/// K of one step of a warp: what it reads at a time, and multiplies by one instruction or two.
constexpr int step_k(const Config& c) {
  const bool halves = c.instruction == Instruction::m16n8k8 && c.types.a != DType::f64;
  return halves ? 16 : instruction_shape(c).k;
}

/// One operand's tile of a stage.
constexpr OperandTile tile_a(const Config& c) {
  return {has_contiguous_rows(c.layouts.a), c.tile.m, c.tile.k, c.alignment.a, bytes_of(c.types.a),
          groups_columns(c.layouts.a)};
}
constexpr OperandTile tile_b(const Config& c) {
  return {!has_contiguous_rows(c.layouts.b), c.tile.n, c.tile.k, c.alignment.b, bytes_of(c.types.b),
          groups_rows(c.layouts.b)};
}

/// Bytes of what sums leave the main loop as.
constexpr int compute_bytes(const Config& c) { return bytes_of(partial_type(c.types.accumulator)); }

/// Whether partial sums may be left to a reduction: scaled ones of whole numbers are f32, which it would take
/// for s32.
constexpr bool has_partials(const Config& c) {
  return c.scales == ScaleSupport::none || !is_integer(c.types.accumulator);
}

/// Threads of a block.
constexpr int threads(const Config& c) { return 32 * c.warps.m * c.warps.n * c.warps.k; }

/// Output tile of one warp, and the part of a stage's K that it multiplies.
constexpr Tile warp_tile(const Config& c) {
  return {c.tile.m / c.warps.m, c.tile.n / c.warps.n, c.tile.k / c.warps.k};
}

/// Bytes of dynamic shared memory: the pipeline's stages, later used again to stage the epilogue.
constexpr int shared_memory_bytes(const Config& c) {
  const int pipeline = c.stages * (tile_a(c).bytes() + tile_b(c).bytes());
  const int epilogue = staging_bytes(staging_rows(c.tile, c.warps), c.tile.n, compute_bytes(c));
  return pipeline > epilogue ? pipeline : epilogue;
}

/// The config whose device code a row runs: a column-major output is its transpose, row-major, and a
/// row_interleaved32 one is its transpose, column_interleaved32.
constexpr Config entry(const Config& c) {
  if (has_contiguous_rows(c.layouts.out)) return c;
  return {exchanged(c.types),
          exchanged(c.layouts),
          exchanged(c.tile),
          exchanged(c.warps),
          c.stages,
          exchanged(c.alignment),
          c.math,
          c.instruction,
          c.epilogue,
          c.schedule,
          c.scales};
}

}  // namespace quarry::gemm_sm80
