#include <algorithm>
#include <bit>
#include <cmath>

#include "gemm/split_k.hpp"
#include "gemm_sm90/block_cycles.hpp"
#include "gemm_sm90/clusters.hpp"
#include "gemm_sm90/estimate.hpp"
#include "gemm_sm90/step_time.hpp"

namespace quarry::gemm_sm90 {
namespace {

// The numbers of the model that do not belong to the device, in cycles of a multiprocessor at its highest
// clock unless they say otherwise. They were fitted to an H200 (NOTES.md: Hopper) together with the numbers
// of DeviceRates, first to times, and at last, by steps that were drawn at random, to how fast the choices
// are for 401 problems (337 random ones, and 64 with sizes of language models or of one wave). Only together
// do they mean something: what the model leaves out hides in those next to it.

/// How much of a copy comes from device memory where that and L2 move as much in the same time.
constexpr double first_scale = 1.4;
/// Before the first multiplication of a block and after its last store; more of it in a cluster, and for each
/// K group after the first.
constexpr double block_ends = 370;
constexpr double cluster_ends = 130;
constexpr double k_group_ends = 20;
/// The first stage's copy, so many times: nothing hides it, and its products wait for all of it.
constexpr double first_stage = 2.15;
/// Cycles that each byte of a stage adds to the way of its copy.
constexpr double stage_byte_latency = 0.038;
/// By how much device memory takes longer for a byte of the output than the calibration says of all bytes.
constexpr double output_bytes = 1.7;
/// For each element of an output tile that a warpgroup stores: out of registers, through the epilogue, into
/// shared memory. More of it where columns are contiguous, and of one_tile, whose blocks do nothing beside
/// it. For each byte: to device memory.
constexpr double element_stored = 0.11;
constexpr double column_stored = 0.5;
constexpr double one_tile_stored = 1.4;
constexpr double byte_stored = 0.083;
/// How many times longer a tile is taken out of the registers where the engine cannot store boxes, as lines
/// of the output do not begin or end at multiples of 16 bytes: lanes move what they store by way of shared
/// memory, and elements of one byte one by one. From 180 times of 40 random problems on an H200, 2026-11-30.
constexpr double stored_by_lanes = 5;
constexpr double bytes_stored_by_lanes = 15;
/// The same once more where a tile's width is no power of two. From 13 times of 3 problems on an H200, which
/// were 1.1 to 1.5 times too long for such tiles; why was not looked into.
constexpr double uneven_by_lanes = 1.8;
/// The share of byte_stored in a cluster of two and of four, except of ping_pong: its blocks write longer
/// pieces of memory at a time.
constexpr double two_stored = 0.47;
constexpr double four_stored = 0.46;
/// How much later copies are in clusters of one tile a block, where the last block holds up the others.
constexpr double cluster_wait = 1.6;
/// More for each element where sums were promoted by warpgroups of 128 rows each: the registers are full.
/// From times with block scales at K of 2048 and 7168 on an H200, and of 18 shapes on an H100.
constexpr double element_promoted = 0.187;
/// More for each element where there is an activation; where matrices are read or written beside the output,
/// or values are scaled or bounded; and the same where the sums leave no registers for it
/// (TileStore::has_simple_steps). From times of 4096^3 and 8192x8192x1024 on an H200 with gelu_tanh and with
/// C, when that still went the general way: up to 4,100, 5,000 and 54,000 cycles a tile.
constexpr double element_activated = 0.25;
constexpr double element_general = 0.3;
constexpr double element_general_in_memory = 2.2;
/// The same of C or a residual alone that the engine fetches, where the sums leave few registers: unrolled,
/// and, with a bias, in a loop. Elsewhere its bytes alone cost. From times of these shapes and 2048^3.
constexpr double element_fetched = 0.25;
constexpr double element_fetched_in_loop = 1.1;
/// GemmProfile::unhidden_memory. From 122 random problems of bf16 and others on an H100.
constexpr double unhidden_memory = 0.6;
/// GemmProfile::hidden_in_tile; and of one_tile, whose small tiles wait for memory, unless their sums are
/// promoted.
constexpr double hidden_by_k_tiles = 0.67;
constexpr double hidden_by_one_tile = 0.32;
/// The shares of LaunchCosts::overlapped_reduction and of the time of partial sums, after these kernels. From
/// the near best of 18 problems with long K on an H100.
constexpr double reduction_share = 0.4;
constexpr double partial_share = 0.5;
/// Cycles to leave the partial sums of a tile in rows, as lanes hold pairs of a row; and more where a
/// warpgroup has more sums than `roomy_sums` (registers are full then; whether that is why was not looked
/// into): with the square of what is beyond, so many for 8,192 of them. From 2,000 times of split_k_parallel
/// on an H100: 192x128 ping_pong takes 7 to 10 us longer than by its bytes.
constexpr double partial_rows = 1900;
constexpr double partial_crowded = 20e3;
constexpr double roomy_sums = 12800;

/// Warpgroups that store a tile together.
int storing_groups(const Config& c) { return c.schedule == Schedule::ping_pong ? 1 : consumers(c); }

/// Whether warps that all store at one time wait for each box of C or of a residual, of clusters of rows and
/// columns: 128x256 and its exchange take 1,701 and 834 us for bf16 18021x18672x40 with C on an H200. Numbers
/// of other general epilogues that are as slow stand for them.
bool waits_for_boxes(const Config& c) {
  return c.schedule == Schedule::cooperative && c.cluster.m > 1 && c.cluster.n > 1;
}

double byte_share(const Config& c) {
  const unsigned blocks = blocks_of_cluster(c);
  if (blocks == 1 || c.schedule == Schedule::ping_pong) return 1;
  return blocks == 4 ? four_stored : two_stored;
}

/// How many times longer a tile takes as lanes store it, less one.
double lanes_share(const Config& c) {
  const double longer = (bytes_of(c.types.out) == 1 ? bytes_stored_by_lanes : stored_by_lanes) - 1;
  const bool is_uneven =
      c.layouts.out == Layout::row && !std::has_single_bit(static_cast<unsigned>(c.tile.n));
  return is_uneven ? uneven_by_lanes * longer : longer;
}

/// GemmProfile::partial_tile in cycles.
double partial_cycles(const Config& c) {
  const double sums = static_cast<double>(c.tile.m) * c.tile.n / storing_groups(c);
  const double beyond = std::max(0.0, sums - roomy_sums) / 8192;
  return partial_crowded * beyond * beyond + (c.layouts.out == Layout::row ? partial_rows : 0);
}

}  // namespace

GemmProfile profile(const Config& c, const DeviceModel& device, bool fetches) {
  const DeviceRates& rates = device.rates;
  const ExchangeCosts& exchange = rates.exchange;
  const double cycle = 1 / device.clock;
  const double elements = static_cast<double>(c.tile.m) * c.tile.n;
  const int resident = resident_blocks(c, device);
  const bool clustered = blocks_of_cluster(c) > 1;
  const bool is_one_tile = c.schedule == Schedule::one_tile;
  const double wait = clustered && is_one_tile ? cluster_wait : 1;
  const int groups = storing_groups(c);
  const double stored = element_stored * (c.layouts.out == Layout::row ? 1 : 1 + column_stored) +
                        (promotes(c) && blocks_m(c) > 1 ? element_promoted : 0);
  const TimeFactors& factors = rates.calibration.wgmma;
  const double stored_tile =
      factors.epilogue * (is_one_tile ? one_tile_stored : 1) * elements / groups * cycle;
  const bool crowded = has_crowded_registers(c);
  const double general = crowded || waits_for_boxes(c) ? element_general_in_memory : element_general;
  const bool is_common =
      fetches && bytes_of(c.types.out) == 2 && !waits_for_boxes(c);  // TileStore::has_common_steps
  const double added = !is_common ? general : crowded ? element_fetched : 0;
  const double added_biased = !is_common ? general : crowded ? element_fetched_in_loop : 0;
  const double copied = factors.copies * copy_cycles(c, rates) * cycle;
  const double way = rates.memory.bulk_copies.latency + stage_byte_latency * stage_bytes(c);
  const double ends =
      factors.ends * (block_ends + (clustered ? cluster_ends : 0) + k_group_ends * (k_groups(c) - 1)) * cycle;
  GemmProfile profile = {
      .traits = traits(c),
      .resident = resident,
      .resident_on_device = resident * device.multiprocessors,
      .math = factors.math * math_cycles(c, rates) * cycle,
      .memory = copied,
      .latency = factors.latency * wait * way / c.stages * cycle,
      .launch = factors.launch * rates.launch.overlapped,
      .alone_root = 0,
      .ends = ends + first_stage * copied,
      .epilogue_byte = factors.epilogue * elements * byte_stored * byte_share(c) * cycle,
      .epilogue_tile = stored_tile * stored,
      .lanes_tile = stored_tile * stored * lanes_share(c),
      .activation_tile = stored_tile * element_activated,
      .added_tile = stored_tile * added,
      .added_biased_tile = stored_tile * added_biased,
      .general_tile = stored_tile * general,
      .turn = factors.ends * turn_cycles(c) * cycle,
      .clearing = 0,
      .reduction = factors.reduction * reduction_share * rates.launch.overlapped_reduction,
      .slowdown = 1,
      .memory_byte = factors.memory / device.memory_bandwidth,
      .partial_byte =
          factors.reduction * partial_share * 2 / rates.memory.partial_sums_speedup / device.memory_bandwidth,
      .rates = &rates,
      .multiprocessors = device.multiprocessors,
      .clusters = static_cast<int>(clusters_at_once(blocks_of_cluster(c), device.multiprocessors)),
      .cluster_turn = factors.exchange * exchange.cluster_turn * cycle,
      .cluster_slice = factors.exchange * exchange.cluster_slice * cycle,
      .cluster_share =
          factors.exchange * elements / (4 * warpgroup_threads * groups) * exchange.cluster_round * cycle,
      .partial_tile = partial_cycles(c) * cycle,
      .least = factors.latency * least_cycles(c) * cycle,
      .column_scales = factors.math * column_cycles(c, rates) * cycle,
      .output_lines = output_bytes * output_lines(c),
      .split_output = split_output(c),
      .first_scale = first_scale * factors.copies / factors.memory,
      .copied_a = weight_of_a(c),
      .unhidden_memory = unhidden_memory,
      .hidden_in_tile = is_one_tile && !promotes(c) ? hidden_by_one_tile : hidden_by_k_tiles,
  };
  profile.alone_root = std::sqrt(step_seconds({profile.math, profile.memory, profile.latency, unhidden}, 1));
  set_balances(profile);
  return profile;
}

}  // namespace quarry::gemm_sm90
