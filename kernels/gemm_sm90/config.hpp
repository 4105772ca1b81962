/// The compile-time parameters of one gemm_sm90 kernel, and what follows from them.
#pragma once

#include "common/config_parts.hpp"
#include "gemm_sm90/operand_box.hpp"
#include "gemm_sm90/output_box.hpp"

namespace quarry::gemm_sm90 {

/// Blocks of a cluster along M and N.
struct ClusterShape {
  int m;
  int n;
  friend constexpr bool operator==(const ClusterShape&, const ClusterShape&) = default;
};

/// One kernel: warp-specialised, operands through mbarrier pipelines, wgmma, boxes stored from shared memory.
struct Config {
  Types types;
  Layouts layouts;
  /// Of one block; with ping_pong, of one warpgroup.
  Tile tile;
  ClusterShape cluster;
  int stages;
  Schedule schedule;
  CopyEngine copy;
  Orientation orientation;
  Alignment alignment;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

inline constexpr int warpgroup_threads = 128;

/// Rows and K extent of the matrix instruction (PTX ISA, wgmma.m64nNk16 for 16-bit types).
inline constexpr int instruction_m = 64;
inline constexpr int instruction_k = 16;

/// Warpgroups that multiply: of a tile of 64 rows one, of 192 three, otherwise two; a tile each with
/// ping_pong.
constexpr int consumers(const Config& c) {
  if (c.schedule == Schedule::ping_pong) return 2;
  const int blocks = c.tile.m / instruction_m;
  return blocks % 2 == 0 ? 2 : blocks;
}

/// Blocks of 64 rows that a warpgroup multiplies.
constexpr int blocks_m(const Config& c) {
  const int blocks = c.tile.m / instruction_m;
  return c.schedule == Schedule::ping_pong ? blocks : blocks / consumers(c);
}

/// Threads of a block: the warpgroup that copies, then those that multiply.
constexpr int threads(const Config& c) { return warpgroup_threads * (1 + consumers(c)); }

/// Blocks that a multiprocessor must hold at once, for QUARRY_ENTRY: registers can be moved between
/// warpgroups only if their number at the start is known.
constexpr int least_blocks(const Config&) { return 1; }

/// Registers of a thread that hold sums.
constexpr int accumulator_registers(const Config& c) {
  return blocks_m(c) * c.tile.n / (c.types.accumulator == DType::f16 ? 4 : 2);
}

/// Registers that each thread of a block has at the start: an even share, in eights (65,536 in all).
constexpr int launch_registers(const Config& c) {
  const int share = 65536 / threads(c) / 8 * 8;
  return share > 255 ? 255 : share;
}

/// Registers that a multiplying thread needs beside its sums.
inline constexpr int spare_registers = 64;

/// Whether the copying warpgroup gives registers to the others.
constexpr bool moves_registers(const Config& c) {
  return accumulator_registers(c) + spare_registers > launch_registers(c);
}

/// Registers of a thread after that.
inline constexpr int producer_registers = 40;
constexpr int consumer_registers(const Config& c) {
  const int pool = launch_registers(c) * (1 + consumers(c));
  const int share = (pool - producer_registers) / consumers(c) / 8 * 8;
  return share > 240 ? 240 : share;
}

/// The operands' tiles of one stage.
constexpr OperandBox box_a(const Config& c) {
  return {c.layouts.a == Layout::row, c.tile.m, c.tile.k, bytes_of(c.types.a), c.cluster.n};
}
constexpr OperandBox box_b(const Config& c) {
  return {c.layouts.b == Layout::column, c.tile.n, c.tile.k, bytes_of(c.types.b), c.cluster.m};
}

/// The part of the output that a warp stores at once.
constexpr OutputBox box_out(const Config& c) {
  return output_box(c.layouts.out == Layout::row, c.tile.n, bytes_of(c.types.out));
}

constexpr int stage_bytes(const Config& c) { return box_a(c).bytes() + box_b(c).bytes(); }

/// Most slices of K that a cluster adds up: blocks of a portable cluster (CUDA programming guide).
inline constexpr int most_cluster_slices = 8;

/// Where a warp's sums go one after another instead: 16 rows of so many columns, in lines along what is
/// contiguous in the output. A few words past the end of a line put lines that are written together into
/// other banks: a warp writes pairs of words of four successive lines at once, or single words of every other
/// line.
constexpr int line_padding(bool row_major, int elements) {
  return !row_major ? 4 : elements % 16 == 0 ? 8 : 0;
}
constexpr int staged_columns(const Config& c) {
  return c.tile.n % 32 == 0 ? 32 : c.tile.n % 16 == 0 ? 16 : 8;
}
constexpr int staged_lines(const Config& c) { return c.layouts.out == Layout::row ? 16 : staged_columns(c); }
constexpr int staged_line_elements(const Config& c) {
  return c.layouts.out == Layout::row ? staged_columns(c) : 16;
}
constexpr int staged_line_bytes(const Config& c) {
  return (staged_line_elements(c) + line_padding(c.layouts.out == Layout::row, staged_line_elements(c))) * 4;
}

/// Where things lie in dynamic shared memory, in bytes from its start, which is aligned to 1,024.
constexpr int output_offset(const Config& c) { return c.stages * stage_bytes(c); }
constexpr int output_buffer_bytes(const Config& c) { return (box_out(c).bytes() + 1023) / 1024 * 1024; }

/// Buffers of each multiplying warp for boxes on their way out: two, so that one is filled while another is
/// stored, or four where there is room.
constexpr int output_buffers(const Config& c) {
  const int boxes = blocks_m(c) * c.tile.n / box_out(c).columns;
  const int four = output_offset(c) + 4 * consumers(c) * 4 * output_buffer_bytes(c) + 16 * c.stages;
  return boxes >= 4 && four <= 227 * 1024 ? 4 : 2;
}

/// Bytes of one warp for its output.
constexpr int warp_output_bytes(const Config& c) {
  const int boxes = output_buffers(c) * output_buffer_bytes(c);
  const int staged = (staged_lines(c) * staged_line_bytes(c) + 1023) / 1024 * 1024;
  return boxes > staged ? boxes : staged;
}
constexpr int barriers_offset(const Config& c) {
  return output_offset(c) + 4 * consumers(c) * warp_output_bytes(c);
}

/// With split_k_cluster, the sums of a block lie where the stages were: lines along what is contiguous in the
/// output.
constexpr int exchange_line_elements(const Config& c) {
  return c.layouts.out == Layout::row ? c.tile.n : c.tile.m;
}
constexpr int exchange_lines(const Config& c) { return c.layouts.out == Layout::row ? c.tile.m : c.tile.n; }
constexpr int exchange_line_bytes(const Config& c) {
  return (exchange_line_elements(c) + line_padding(c.layouts.out == Layout::row, exchange_line_elements(c))) *
         4;
}

/// Whether slices of K can be added up within a cluster.
constexpr bool adds_up_in_cluster(const Config& c) {
  return c.schedule == Schedule::one_tile && c.cluster == ClusterShape{1, 1} &&
         exchange_lines(c) * exchange_line_bytes(c) <= output_offset(c);
}

/// Bytes of dynamic shared memory: stages, output buffers, two barriers a stage.
constexpr int shared_memory_bytes(const Config& c) { return barriers_offset(c) + 16 * c.stages; }

/// The config whose device code a row runs: with exchanged operands that of the transposed problem.
constexpr Config entry(const Config& c) {
  if (c.orientation == Orientation::direct) return c;
  return {exchanged(c.types),
          exchanged(c.layouts),
          exchanged(c.tile),
          {c.cluster.n, c.cluster.m},
          c.stages,
          c.schedule,
          c.copy,
          Orientation::direct,
          exchanged(c.alignment)};
}

}  // namespace quarry::gemm_sm90
