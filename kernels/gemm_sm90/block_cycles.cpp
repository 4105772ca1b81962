#include "gemm_sm90/block_cycles.hpp"

#include <algorithm>
#include <bit>

#include "gemm_sm90/clusters.hpp"

namespace quarry::gemm_sm90 {
namespace {

// Fitted together with the numbers of estimate.cpp, and to the same problems unless they say otherwise.

/// Around a K tile, while nothing is multiplied.
constexpr double tile_overhead = 190;
/// By how much a K tile takes longer whose width is no power of two (112, 160, 192, ...), whatever K is,
/// except of ping_pong; why was not looked into.
constexpr double uneven_width = 0.04;
/// Least cycles of a K tile for a block, and of each of its instructions: they follow one another. A factor
/// of the calibration (0.5) goes with them. A block alone on an H200 takes 170 cycles for 64 of K in 16 bits,
/// 300 for 128, and 520 to 790 for 256, however small its tile is. From the choices for 1,039 problems.
constexpr double least_tile = 300;
constexpr double least_instruction = 45;
/// By how much copies take longer where the lines of an operand's panels have 64 bytes, or fewer. From times
/// of row-major B on an H100.
constexpr double lines_of_64 = 0.25;
constexpr double shorter_lines = 0.8;
/// From the last multiplication of a tile to the first of the next: where the same warps store it, the least
/// of it and what a tile of 128x256 adds; and where others take their turn (ping_pong).
constexpr double turn_at_least = 265;
constexpr double tile_turn = 1050;
constexpr double hand_over = 140;
/// By how much device memory takes longer for an output in short lines: of fewer than 64 bytes (narrow boxes,
/// and 16 rows of a column-major output), of 64, and of fewer than 112; and where a cluster's lines end
/// within 256 bytes (192 columns of two bytes).
constexpr double output_below_64 = 1.15;
constexpr double output_of_64 = 0.3;
constexpr double output_below_112 = 0.5;
constexpr double output_within_256 = 0.22;
/// The same where the tiles of a cluster have 256 bytes or fewer of each line of the output; half of it where
/// they have 512, and so on.
constexpr double narrow_span = 0.16;
/// The share of the lines of L2 that split lines of the output touch more which counts, where a tile's
/// neighbours hide some of it, and where none does (ping_pong).
constexpr double split_hidden = 0.5;
constexpr double split_in_pairs = 0.72;
/// Threads' copies need instructions: cycles for each, of all blocks of a multiprocessor, and of one block
/// (with the calibration's factor, 0.5). From 13 problems with lines of four or eight bytes' alignment.
constexpr double thread_copy = 0.6;
constexpr double thread_copy_alone = 1.35;
/// By how much the cycles of a K tile grow where sums are promoted: by a warpgroup that multiplies alone, of
/// one and of two sets of sums (a second block beside it hides all); by two that share a tile, where a block
/// of K is a stage, and where it is several; more of it in a cluster, whose blocks wait for each other; and
/// where each column has scales of its own, as where the rows of A have and operands are exchanged, of
/// one_tile and of others. From the choices for 32 problems of e4m3 with block scales (8 to 4096 rows) on an
/// H200; several stages, clusters and the columns of others from times.
constexpr double promoted_alone = 0.45;
constexpr double promoted_in_two_sets = 0.74;
constexpr double promoted_shared = 0.24;
constexpr double promoted_over_stages = 0.38;
constexpr double promoted_in_cluster = 0.06;
constexpr double promoted_by_columns_alone = 0.27;
constexpr double promoted_by_columns = 1.0;
/// Weights: by how much multiplying them takes longer; and of each 128 of K the cycles that a
/// warpgroup needs to convert its 64 rows, and those from one stage to the next for a warpgroup alone. Fitted
/// to 1 to 4096 rows beside 8192 x 8192 weights on an H200; with K groups, which share the last of them, to
/// 1 to 64 rows.
constexpr double promoted_weights = 0.2;
constexpr double weights_converted = 110;
constexpr double least_weights = 1000;

/// Cycles of the tensor cores for a K tile of a block. Each warpgroup reads its rows and all columns from
/// shared memory, which for narrow tiles takes longer than to multiply them.
double multiplying_cycles(const Config& c, const DeviceRates& rates) {
  const Tile& t = c.tile;
  // The rate of 16-bit operands; an instruction takes as long for as many bytes of others.
  const int bytes = bytes_of(multiplied_type(c.types));
  const double halves = t.k * bytes / 2.0;
  const double multiplied = 2.0 * t.m * t.n * halves / rates.wgmma.flops_per_clock;
  const int groups = c.schedule == Schedule::ping_pong ? 1 : consumers(c);
  if (has_weights(c)) {
    const double read = (t.m * t.k * bits_of(c.types.a) / 8.0 + groups * t.n * halves * 2) /
                        rates.memory.shared_bytes_per_clock;
    return (1 + promoted_weights) * std::max(multiplied, read) +
           groups * weights_converted * t.k / scale_block;
  }
  const double read = static_cast<double>(bytes) * t.k * (t.m + groups * blocks_m(c) * t.n) /
                      rates.memory.shared_bytes_per_clock;
  return std::max(multiplied, read);
}

/// Cycles of a K tile to promote its sums. @param multiplied to multiply it
double promoting_cycles(const Config& c, double multiplied) {
  if (!promotes(c)) return 0;
  if (partial_sets(c) == 2) return promoted_in_two_sets * multiplied;
  if (consumers(c) == 1) return least_blocks(c) > 1 ? 0 : promoted_alone * multiplied;
  const double shared = block_k_tiles(c) > 1 ? promoted_over_stages : promoted_shared;
  return (shared + (blocks_of_cluster(c) > 1 ? promoted_in_cluster : 0)) * multiplied;
}

/// By how much the copies of a box take longer whose panels have short lines.
double short_lines(const OperandBox& box) {
  const int bytes = box.panel_line_bytes();
  return bytes >= 128 ? 1 : bytes == 64 ? 1 + lines_of_64 : 1 + shorter_lines;
}

/// Bytes of a K tile's operands that a block copies itself; more for short lines.
struct Copied {
  double a;
  double b;
};
Copied copied_bytes(const Config& c) {
  return {short_lines(box_a(c)) * box_a(c).bytes() / c.cluster.n,
          short_lines(box_b(c)) * box_b(c).bytes() / c.cluster.m};
}

/// K groups that share least_weights: three hide as much as four (8192x8192 on an H200: one row takes 13.6 us
/// with three and 14.5 with four, 16 rows 14.9 and 15.4).
int sharing_groups(const Config& c) { return k_groups(c) == 3 ? 4 : k_groups(c); }

/// Copies of a K tile where threads make them.
double pieces(const Config& c) {
  return static_cast<double>(c.tile.m * c.tile.k) / c.alignment.a +
         static_cast<double>(c.tile.n * c.tile.k) / c.alignment.b;
}

}  // namespace

int resident_blocks(const Config& c, const DeviceModel& device) {
  if (c.schedule != Schedule::one_tile) return 1;
  if (has_weights(c)) return weight_blocks(c);
  if (c.copy == CopyEngine::cp_async) return least_blocks(c);
  const int by_memory =
      device.shared_memory_per_multiprocessor / (shared_memory_bytes(c) + device.reserved_shared_memory);
  // As fitted: what a block of one tile may use at most.
  const int registers = std::clamp(device.registers_per_multiprocessor / threads(c) / 8 * 8, 8, 255);
  const int by_registers = device.registers_per_multiprocessor / (threads(c) * registers);
  const int by_threads = device.threads_per_multiprocessor / threads(c);
  return std::max(1, std::min({by_memory, by_registers, by_threads}));
}

double math_cycles(const Config& c, const DeviceRates& rates) {
  const double multiplied = multiplying_cycles(c, rates);
  const double cycles = multiplied + promoting_cycles(c, multiplied) + tile_overhead;
  const bool is_even = c.schedule == Schedule::ping_pong || promotes(c) || has_weights(c) ||
                       std::has_single_bit(static_cast<unsigned>(c.tile.n));
  return is_even ? cycles : (1 + uneven_width) * cycles;
}

double column_cycles(const Config& c, const DeviceRates& rates) {
  if (!promotes(c)) return 0;
  const double more = c.schedule == Schedule::one_tile ? promoted_by_columns_alone : promoted_by_columns;
  return more * multiplying_cycles(c, rates);
}

double least_cycles(const Config& c) {
  if (has_weights(c)) return least_weights * c.tile.k / scale_block / sharing_groups(c);
  const double multiplied = least_tile + least_instruction * c.tile.k / instruction_k(c.types);
  return c.copy == CopyEngine::tma ? multiplied : std::max(multiplied, thread_copy_alone * pieces(c));
}

double copy_cycles(const Config& c, const DeviceRates& rates) {
  const Copied copied = copied_bytes(c);
  const double way = (copied.a + copied.b) * rates.memory.bulk_copies.clocks_per_byte;
  if (c.copy == CopyEngine::tma) return way;
  return std::max(way, thread_copy * pieces(c));
}

double weight_of_a(const Config& c) {
  const Copied copied = copied_bytes(c);
  return copied.a > copied.b ? 1 : copied.a < copied.b ? 0 : 0.5;
}

double turn_cycles(const Config& c) {
  if (c.schedule == Schedule::ping_pong) return hand_over;
  constexpr double usual = 128 * 256;
  return turn_at_least + tile_turn * c.tile.m * c.tile.n / usual;
}

double output_lines(const Config& c) {
  const int bytes = box_out(c).line_bytes();
  const bool by_rows = c.layouts.out == Layout::row;
  const int along = by_rows ? c.tile.n * c.cluster.n : c.tile.m * c.cluster.m;
  const double span = narrow_span * 256 / (along * bytes_of(c.types.out));
  const double all = 1 + std::min(span, narrow_span);
  if (bytes < 64) return all + output_below_64;
  if (bytes == 64) return all + output_of_64;
  if (bytes < 112) return all + output_below_112;
  return along * bytes_of(c.types.out) % 256 != 0 ? all + output_within_256 : all;
}

double split_output(const Config& c) {
  constexpr double line = 128;
  const int along = c.layouts.out == Layout::row ? c.tile.n : c.tile.m;
  const double share = c.schedule == Schedule::ping_pong ? split_in_pairs : split_hidden;
  return share * line / (along * bytes_of(c.types.out));
}

}  // namespace quarry::gemm_sm90
