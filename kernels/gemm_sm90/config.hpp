/// The compile-time parameters of one gemm_sm90 kernel, and what follows from them.
#pragma once

#include "common/config_parts.hpp"
#include "gemm/params.hpp"
#include "gemm_sm90/operand_box.hpp"
#include "gemm_sm90/output_box.hpp"

namespace quarry::gemm_sm90 {

/// Blocks of a cluster along M and N.
struct ClusterShape {
  int m;
  int n;
  friend constexpr bool operator==(const ClusterShape&, const ClusterShape&) = default;
};

/// Groups of warpgroups that share a block's K tiles, each taking its turn: their sums are added up at the
/// end.
enum class KGroups : unsigned char { k1, k2, k3, k4 };

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
  /// fast_tf32 of f32 operands, exact of others.
  Math math = Math::exact;
  /// Of A and B: vectors multiply the sums of a tile, blocks multiply the sums of each 128 of K. With
  /// weights, groups of 32, 64 or 128, with zero_points beside zero points.
  ScaleSupport scales = ScaleSupport::none;
  /// More than one with weights alone.
  KGroups k_groups = KGroups::k1;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

inline constexpr int warpgroup_threads = 128;

/// Bytes of shared memory that a block can have (compute capability 9.0).
inline constexpr int most_shared_memory = 227 * 1024;

/// Rows of the matrix instruction, and its K extent, which is 32 bytes of any type (PTX ISA,
/// wgmma.mma_async).
inline constexpr int instruction_m = 64;
inline constexpr int instruction_k_bytes = 32;
/// Whether A is weights of 4 or 8 bits, which are multiplied as numbers of the other operand's type.
constexpr bool has_weights(const Types& types) { return is_weight(types.a) && is_half(types.b); }
constexpr DType multiplied_type(const Types& types) { return has_weights(types) ? types.b : types.a; }
constexpr int instruction_k(const Types& types) {
  return instruction_k_bytes / bytes_of(multiplied_type(types));
}

/// Whether A is weights: of a config whose device code runs. They become 16-bit numbers in registers, from
/// where the matrix instruction takes them (weights.cuh).
constexpr bool has_weights(const Config& c) { return has_weights(c.types); }

/// Whether the warps of a warpgroup multiply weights by their own instructions. The warpgroup's takes as long
/// for 8 columns as for 32, as its left operand comes from registers. From 16 columns on it is the faster
/// one.
constexpr bool multiplies_by_warps(const Config& c) { return has_weights(c) && c.tile.n <= 8; }

/// The number of these groups.
constexpr int k_groups(const Config& c) { return static_cast<int>(c.k_groups) + 1; }

/// Warpgroups that multiply the same K tile: of a tile of 64 rows one, of 192 three, otherwise two; a tile
/// each with ping_pong. Of weights, 64 rows each: converting them takes more than to multiply a few columns.
constexpr int consumers(const Config& c) {
  if (has_weights(c)) return c.tile.m / instruction_m;
  if (c.schedule == Schedule::ping_pong) return 2;
  const int blocks = c.tile.m / instruction_m;
  return blocks % 2 == 0 ? 2 : blocks;
}

/// Blocks of 64 rows that a warpgroup multiplies.
constexpr int blocks_m(const Config& c) {
  const int blocks = c.tile.m / instruction_m;
  return c.schedule == Schedule::ping_pong ? blocks : blocks / consumers(c);
}

/// All warpgroups of a block that multiply.
constexpr int all_consumers(const Config& c) { return consumers(c) * k_groups(c); }

/// Threads of a block: the warpgroup that copies, then those that multiply.
constexpr int threads(const Config& c) { return warpgroup_threads * (1 + all_consumers(c)); }

/// Whether sums are scaled, and are of f32 from then on.
constexpr bool takes_scales(const Config& c) { return c.scales != ScaleSupport::none; }
constexpr bool has_zeros(const Config& c) { return c.scales == ScaleSupport::zero_points; }
constexpr bool promotes(const Config& c) { return c.scales == ScaleSupport::block_scales; }

/// Whether partial sums may be left to a reduction: scaled ones of whole numbers are f32, which it would take
/// for s32.
constexpr bool has_partials(const Config& c) { return !takes_scales(c) || !is_integer(c.types.accumulator); }

/// K tiles of a block of scales.
constexpr int block_k_tiles(const Config& c) { return scale_block / c.tile.k; }

/// Registers of a thread that hold what the epilogue reads.
constexpr int accumulator_registers(const Config& c) {
  return blocks_m(c) * c.tile.n / (c.types.accumulator == DType::f16 ? 4 : 2);
}

/// Sets of sums of 64 rows and a block of K, where sums are promoted: two where a warpgroup multiplies alone,
/// so that one is promoted while the products of the other are under way. Blocks of several K tiles have one:
/// both would hold more stages than there may be.
constexpr int partial_sets(const Config& c) {
  return c.schedule == Schedule::ping_pong && blocks_m(c) == 1 && block_k_tiles(c) == 1 ? 2 : 1;
}

/// Registers that hold sums in the main loop: where they are promoted, also the sets of 64 rows.
constexpr int sum_registers(const Config& c) {
  const int finished = accumulator_registers(c);
  if (promotes(c)) return finished + partial_sets(c) * finished / blocks_m(c);
  return finished * (has_weights(c) ? 2 : 1);
}

/// Registers that a multiplying thread needs beside its sums.
inline constexpr int spare_registers = 64;

/// Blocks of a kernel of weights that a multiprocessor holds at once: as many as there are registers and
/// memory for. A warpgroup alone waits for each of its instructions; other blocks fill this time.
constexpr int weight_blocks(const Config& c) {
  if (c.schedule != Schedule::one_tile) return 1;
  constexpr int beside_sums = 64;
  const int by_registers = 65536 / threads(c) / (sum_registers(c) + beside_sums);
  const int line = c.tile.m * bits_of(c.types.a) + c.tile.n * bits_of(c.types.b);
  const int by_memory = 200 * 1024 / (c.stages * c.tile.k / 8 * line);
  const int blocks = by_registers < by_memory ? by_registers : by_memory;
  return blocks < 1 ? 1 : blocks;
}

/// Blocks that a multiprocessor must hold at once, for QUARRY_ENTRY: registers can be moved between
/// warpgroups only if their number at the start is known. Of small tiles there are two: the next kernel's
/// block starts while the one before it ends. Their epilogue needs 96 registers beside the sums.
constexpr int least_blocks(const Config& c) {
  if (has_weights(c)) return weight_blocks(c);
  const bool is_small = sum_registers(c) + 96 <= 65536 / threads(c) / 2 &&
                        c.stages * c.tile.k / 8 * (c.tile.m + c.tile.n) * bits_of(c.types.a) <= 100 * 1024;
  return c.schedule == Schedule::one_tile && is_small ? 2 : 1;
}

/// Registers that each thread of a block has at the start: an even share, in eights (65,536 in all).
constexpr int launch_registers(const Config& c) {
  const int share = 65536 / (threads(c) * least_blocks(c)) / 8 * 8;
  return share > 255 ? 255 : share;
}

/// Whether the copying warpgroup gives registers to the others.
constexpr bool moves_registers(const Config& c) {
  return sum_registers(c) + spare_registers > launch_registers(c);
}

/// Registers of a thread after that.
inline constexpr int producer_registers = 40;
constexpr int consumer_registers(const Config& c) {
  const int pool = launch_registers(c) * (1 + all_consumers(c));
  const int share = (pool - producer_registers) / all_consumers(c) / 8 * 8;
  return share > 240 ? 240 : share;
}

/// The operands' tiles of one stage. Of weights, the box counts bytes.
constexpr OperandBox box_a(const Config& c) {
  if (has_weights(c)) return {true, c.tile.m, c.tile.k * bits_of(c.types.a) / 8, 1, c.cluster.n};
  return {c.layouts.a == Layout::row, c.tile.m, c.tile.k, bytes_of(c.types.a), c.cluster.n};
}
constexpr OperandBox box_b(const Config& c) {
  return {c.layouts.b == Layout::column, c.tile.n, c.tile.k, bytes_of(c.types.b), c.cluster.m};
}

constexpr int stage_bytes(const Config& c) { return box_a(c).bytes() + box_b(c).bytes(); }

/// Where the output's buffers begin in dynamic shared memory, in bytes from its start, which is aligned to
/// 1,024.
constexpr int output_offset(const Config& c) { return c.stages * stage_bytes(c); }

/// Biases that wait in shared memory, one for each tile under way: f32, one for each column or each row of
/// it. With ping_pong two, as each warpgroup has a tile. Threads that copy say so late that a stage is full,
/// when as many others have followed as there are stages less two: those may be of as many tiles, and whoever
/// waits for a bias must not have held up the tile that it waits for.
constexpr int bias_sets(const Config& c) {
  if (c.schedule == Schedule::one_tile) return 1;
  if (c.copy == CopyEngine::cp_async) return c.stages - 1;
  return c.schedule == Schedule::ping_pong ? 2 : 1;
}
constexpr int bias_bytes(const Config& c) { return (c.tile.m > c.tile.n ? c.tile.m : c.tile.n) * 4; }

/// Sets of scales in shared memory: f32, of the rows of a tile, then of its columns. Vectors wait like
/// biases, with two barriers a set; the scales of a block of K belong to the stage.
constexpr int scale_sets(const Config& c) {
  if (!takes_scales(c) || has_weights(c)) return 0;  // which find theirs in registers
  return promotes(c) ? c.stages : bias_sets(c);
}
constexpr int scale_bytes(const Config& c) { return (c.tile.m + c.tile.n) * 4; }
constexpr int all_scale_bytes(const Config& c) {
  return scale_sets(c) * (scale_bytes(c) + (promotes(c) ? 0 : 16));
}

/// Bytes behind the output buffers when each multiplying warp has so many: biases; then barriers, two a
/// stage, two a bias, one a buffer; then scales.
constexpr int bytes_behind_buffers(const Config& c, int buffers) {
  return bias_sets(c) * bias_bytes(c) + 16 * c.stages + 16 * bias_sets(c) + 8 * 4 * consumers(c) * buffers +
         all_scale_bytes(c);
}

/// Bytes of an output buffer, each of which begins where the widest permutation does.
constexpr int buffer_bytes(const OutputBox& box) { return (box.bytes() + 1023) / 1024 * 1024; }

/// The part of the output that a warp stores at once: lines of 128 bytes, or half as wide where these would
/// leave no room for the stages. The same where sums are promoted, for one stage more: two warpgroups that
/// promote drift apart, and hold stages meanwhile.
constexpr OutputBox box_out(const Config& c) {
  const auto box = [&c](int most_bytes) {
    return output_box(c.layouts.out == Layout::row, c.tile.n, bytes_of(c.types.out), most_bytes);
  };
  const int buffers = 4 * consumers(c) * 2 * buffer_bytes(box(128));
  const bool fits = output_offset(c) + buffers + bytes_behind_buffers(c, 2) <= most_shared_memory;
  return box(fits && !promotes(c) ? 128 : 64);
}
constexpr int output_buffer_bytes(const Config& c) { return buffer_bytes(box_out(c)); }

/// Most slices of K that a cluster adds up, each by a block.
inline constexpr int most_cluster_slices = portable_cluster;

/// Whether slices of K can be added up within a cluster: the sums of a block lie where the stages were, four
/// values of each thread after another.
constexpr bool adds_up_in_cluster(const Config& c) {
  return c.schedule == Schedule::one_tile && c.cluster == ClusterShape{1, 1} &&
         c.tile.m * c.tile.n * 4 <= c.stages * stage_bytes(c);
}

/// Whether the sums leave a thread too few registers for the general form of the epilogue: part of it then
/// lives in local memory.
constexpr bool has_crowded_registers(const Config& c) { return accumulator_registers(c) > 128; }

/// Columns of a box, at most so many of which the sums leave registers for.
constexpr int columns_at_once(const Config& c, int most) {
  const int columns = box_out(c).columns;
  return columns > most && columns % most == 0 ? most : columns;
}
constexpr int most_columns_at_once(const Config& c) {
  return has_crowded_registers(c) || least_blocks(c) > 1 ? 32 : 64;
}

/// Columns of the output that a warp evaluates at once where its epilogue is more than an addend and an
/// activation. Blocks of a cluster share the steps of a small tile: there are several of it for each.
constexpr int step_columns(const Config& c) {
  const bool is_shared = adds_up_in_cluster(c) && accumulator_registers(c) <= 64;
  return columns_at_once(c, is_shared ? 16 : most_columns_at_once(c));
}

/// The same where there is a bias and an activation only and the sums leave few registers: of so few values
/// that the functions of all are computed at one time, in registers of their own. One after another they
/// would take as long as all of the tile's products.
constexpr int activated_columns(const Config& c) {
  if (!has_crowded_registers(c)) return columns_at_once(c, most_columns_at_once(c));
  const int columns = box_out(c).columns;
  return columns % 16 == 0 ? 16 : columns % 24 == 0 ? 24 : 8;
}

/// Values of a thread in such a step, of the warp's 16 rows.
constexpr int step_values(const Config& c) { return step_columns(c) / 2; }

/// Boxes of a tile that a warp stores.
constexpr int warp_boxes(const Config& c) { return blocks_m(c) * c.tile.n / box_out(c).columns; }

/// Buffers of each multiplying warp for boxes on their way: two, so that one is filled while another is
/// stored, or four where there is room.
constexpr int output_buffers(const Config& c) {
  const int boxes = warp_boxes(c);
  const int four =
      output_offset(c) + 4 * consumers(c) * 4 * output_buffer_bytes(c) + bytes_behind_buffers(c, 4);
  return boxes >= 4 && four <= most_shared_memory ? 4 : 2;
}

/// Boxes of each multiplying warp that a stage has room for, of a matrix that the epilogue reads.
constexpr int stage_boxes(const Config& c) {
  const int boxes = stage_bytes(c) / (4 * consumers(c) * output_buffer_bytes(c));
  return boxes < warp_boxes(c) ? boxes : warp_boxes(c);
}

/// Whether such a matrix comes through the pipeline's stages, behind the operands of its tile, and not into
/// output buffers: where all warpgroups store at one time, and a wait for what the buffers have no room for
/// is a wait of the matrix instructions. With ping_pong, these stages would be missing to the other
/// warpgroup. Nor in clusters of both rows and columns: a block fills such a stage when the blocks of its own
/// row and column have released the one before. A block of its row may then still wait for the others of its
/// column, and would take a second release by this block for theirs. (A stage of operands waits for all of
/// them, as its copies come from there; and in one row, or column, all blocks wait for the same releases.)
constexpr bool has_source_stages(const Config& c) {
  return c.copy == CopyEngine::tma && c.schedule == Schedule::cooperative && !promotes(c) &&
         !has_weights(c) && (c.cluster.m == 1 || c.cluster.n == 1) && stage_boxes(c) > 0;
}

/// These stages, of a tile.
constexpr int source_stages(const Config& c) { return (warp_boxes(c) + stage_boxes(c) - 1) / stage_boxes(c); }

/// Bytes of one warp for its output.
constexpr int warp_output_bytes(const Config& c) { return output_buffers(c) * output_buffer_bytes(c); }

constexpr int biases_offset(const Config& c) {
  return output_offset(c) + 4 * consumers(c) * warp_output_bytes(c);
}
constexpr int barriers_offset(const Config& c) { return biases_offset(c) + bias_sets(c) * bias_bytes(c); }
constexpr int bias_barriers_offset(const Config& c) { return barriers_offset(c) + 16 * c.stages; }
constexpr int buffer_barriers_offset(const Config& c) { return bias_barriers_offset(c) + 16 * bias_sets(c); }

constexpr int scales_offset(const Config& c) {
  return buffer_barriers_offset(c) + 8 * 4 * consumers(c) * output_buffers(c);
}

/// Whether there is code for gated pairs: without scales, and with scales of blocks.
constexpr bool takes_pairs(const Config& c) { return !takes_scales(c) || promotes(c); }

/// Columns of which half a tile of gated pairs is a multiple, each in the tiles of the blocks of a cluster;
/// 0: the kernel computes none. Copies and boxes of the output are of one half.
constexpr int gated_columns(const Config& c) {
  if (c.copy != CopyEngine::tma || !takes_pairs(c)) return 0;
  const OperandBox b = box_b(c);
  const int half = c.tile.n / 2;
  const bool splits = b.k_contiguous ? half % 8 == 0 && (b.sharers == 1 || half % b.part_lines() == 0)
                                     : half % b.panel_line_elements() == 0;
  return splits && half % box_out(c).columns == 0 ? half : 0;
}

/// The same of pairs in blocks of eight columns, of which B is copied as any other is.
constexpr int eights_columns(const Config& c) {
  const int half = c.tile.n / 2;
  return takes_pairs(c) && half % box_out(c).columns == 0 ? half : 0;
}

/// Warps that store a tile.
constexpr int storing_warps(const Config& c) {
  return 4 * (c.schedule == Schedule::ping_pong ? 1 : consumers(c));
}

/// Bytes of dynamic shared memory.
constexpr int shared_memory_bytes(const Config& c) {
  return output_offset(c) + 4 * consumers(c) * warp_output_bytes(c) +
         bytes_behind_buffers(c, output_buffers(c));
}

/// The config whose device code a row runs: with exchanged operands the transposed problem's config.
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
          exchanged(c.alignment),
          c.math,
          c.scales,
          c.k_groups};
}

}  // namespace quarry::gemm_sm90
