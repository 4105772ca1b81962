/// The compile-time parameters of one gemm_simt kernel, and what follows from them.
#pragma once

#include "common/config_parts.hpp"
#include "common/epilogue_layout.hpp"
#include "gemm/params.hpp"

namespace quarry::gemm_simt {

/// One kernel: plain fused multiply-add, or sums of four products of bytes, from shared memory; any stride
/// along both extents, any alignment and size.
struct Config {
  Types types;
  Layouts layouts;
  Tile tile;
  /// Output elements that one thread computes along M and N.
  int thread_m;
  int thread_n;
  /// Sums are multiplied by scales, and promoted, every 128 of K; with group_scales and zero_points every 32.
  ScaleSupport scales = ScaleSupport::none;
  /// Stages of shared memory. Two: operands pass through registers. More: words of them are copied
  /// asynchronously, and fragments are read a step ahead (pipeline.cuh).
  int stages = 2;
  /// Elements that one such copy moves of operands that lie along M or N: 1, or 4, which are aligned so.
  int vector = 1;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Whether operands are copied asynchronously.
constexpr bool is_pipelined(const Config& c) { return c.stages > 2; }

/// Whether partial sums may be left to a reduction: scaled ones of whole numbers are f32, which it would take
/// for s32.
constexpr bool has_partials(const Config& c) {
  return c.scales == ScaleSupport::none || !is_integer(c.types.accumulator);
}

/// Positions of K after which sums are promoted.
constexpr int promoted_k(const Config& c) { return takes_groups(c.scales) ? least_scale_group : scale_block; }

/// Whether zero points are taken off its weights.
constexpr bool has_zeros(const Config& c) { return c.scales == ScaleSupport::zero_points; }

/// Threads of a block.
constexpr int threads(const Config& c) { return (c.tile.m / c.thread_m) * (c.tile.n / c.thread_n); }

/// Threads of a warp along M and N where operands are copied asynchronously: 4 x 8, or as many of a tile's
/// few rows or columns as there are. What they read of either operand at once is at most a few lines of
/// shared memory.
constexpr int warp_rows(const Config& c) {
  const int rows = c.tile.m / c.thread_m;
  const int columns = c.tile.n / c.thread_n;
  return columns < 8 ? 32 / columns : rows < 4 ? rows : 4;
}
constexpr int warp_columns(const Config& c) { return 32 / warp_rows(c); }

/// Elements that one copy moves of an operand: fours where these lie along M or N, and there are as many for
/// each thread. @param along_extent whether the operand lies along M or N; extent: the tile's
constexpr int copied_elements(const Config& c, bool along_extent, int extent) {
  if (c.vector == 1 || !along_extent || extent % c.vector != 0) return 1;
  const int vectors = extent / c.vector;
  return threads(c) % vectors == 0 && c.tile.k % (threads(c) / vectors) == 0 ? c.vector : 1;
}
constexpr Alignment alignment(const Config& c) {
  return {copied_elements(c, !has_contiguous_rows(c.layouts.a), c.tile.m),
          copied_elements(c, has_contiguous_rows(c.layouts.b), c.tile.n)};
}

/// Whether neighbours of B are in one another's places in shared memory (multiply_fragment).
constexpr bool swaps_neighbours(const Config& c) { return is_pipelined(c) && alignment(c).b == 1; }

/// Words of an operand's tile that each thread copies there, where it copies words. @param extent the tile's
/// along M or N
constexpr int words_copied(const Config& c, int extent) { return extent * c.tile.k / threads(c); }
/// Each of them has a bit (WordSource).
inline constexpr int most_words_copied = 32;

/// Neighbours along K of one line of an operand that lie in one item of shared memory, and that one
/// instruction multiplies: four bytes share a word, other types have an item to themselves.
constexpr int packed_k(const Config& c) { return is_byte(c.types.a) && is_byte(c.types.b) ? 4 : 1; }

/// Items along K of a tile: what the main loop multiplies in one step each.
constexpr int k_steps(const Config& c) { return c.tile.k / packed_k(c); }

/// Bytes of one item in shared memory and of an accumulator: products are computed in the accumulator's type,
/// f16 ones in f32 and rounded after each addition.
constexpr int compute_bytes(const Config& c) { return bytes_of(partial_type(c.types.accumulator)); }

/// Items from one step along K of a staged operand to the next. The padding keeps vectors of four aligned,
/// and spreads threads that walk K while they store over the banks.
constexpr int line_elements(int extent) { return extent + 4; }

/// Bytes of one stage: all steps of A, then all steps of B.
constexpr int stage_bytes_a(const Config& c) {
  return k_steps(c) * line_elements(c.tile.m) * compute_bytes(c);
}
constexpr int stage_bytes_b(const Config& c) {
  return k_steps(c) * line_elements(c.tile.n) * compute_bytes(c);
}

/// Rows of the output tile that one pass of the epilogue stages: one for each thread along M.
constexpr int staging_rows(const Config& c) { return c.tile.m / c.thread_m; }

/// Blocks that a multiprocessor must hold at once: two where sums, fragments and addresses leave room, so
/// that one multiplies while the other waits at a barrier.
constexpr int least_blocks(const Config& c) {
  return is_pipelined(c) && c.thread_m * c.thread_n <= 64 ? 512 / threads(c) : 0;
}

/// Whether a thread's rows are multiplied from left to right and from right to left in turn, so that a number
/// of B is read once for two rows; and the step along K among whose products the next copies start. From
/// times of 4096 x 4096 x 4096 in four layouts on an H200: with 8 x 8 outputs a thread, turns save 8 % and
/// the later step 2 %; with 16 x 8 they cost 1 % and 11 %. How the assembler places loads decides.
constexpr bool turns_back(const Config& c) { return c.thread_m * c.thread_n <= 64; }
constexpr int copying_step(const Config& c) { return turns_back(c) ? k_steps(c) / 2 : 1; }

/// Bytes of dynamic shared memory: the stages of both operands, later used again to stage the epilogue.
constexpr int shared_memory_bytes(const Config& c) {
  const int pipeline = c.stages * (stage_bytes_a(c) + stage_bytes_b(c));
  const int epilogue = staging_bytes(staging_rows(c), c.tile.n, compute_bytes(c));
  return pipeline > epilogue ? pipeline : epilogue;
}

/// The config whose device code a row runs: a column-major output is its transpose, row-major, and a
/// row_interleaved32 one is its transpose, column_interleaved32.
constexpr Config entry(const Config& c) {
  if (has_contiguous_rows(c.layouts.out)) return c;
  return {exchanged(c.types), exchanged(c.layouts),
          exchanged(c.tile),  c.thread_n,
          c.thread_m,         c.scales,
          c.stages,           c.vector};
}

}  // namespace quarry::gemm_simt
