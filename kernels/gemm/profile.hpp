/// What the host knows of a GEMM kernel whatever the problem. Plain data, computed once and kept. Host only.
#pragma once

#include "common/config_parts.hpp"
#include "gemm/traffic.hpp"
#include "quarry/device_model.hpp"
#include "quarry/types.hpp"

namespace quarry {

class GemmFamily;

/// What follows from the config alone, whatever the family.
struct GemmTraits {
  /// Of a block, or of a whole cluster.
  Tile tile;
  Layouts layouts;
  /// Needed of the operands, in elements; 0 takes any strides, contiguous or not.
  Alignment alignment;
  DType accumulator;
  DType out;
  /// Threads of a block.
  int threads;
  /// Bytes of dynamic shared memory of a block.
  int shared_memory;
  /// Blocks of a cluster, and of them along N.
  int cluster = 1;
  int cluster_n = 1;
  /// Blocks of every schedule except one_tile are persistent.
  Schedule schedule = Schedule::one_tile;
  /// A and B are copied by tensor maps.
  bool maps_operands = false;
  /// Permits split_k_cluster instead of split_k_serial.
  bool cuts_by_cluster = false;
  /// The longest K that it takes; 0: any.
  int most_k = 0;
  ScaleSupport scales = ScaleSupport::none;
  /// Permits split_k_parallel.
  bool cuts_in_parallel = true;
  /// Parts of reductions that a tile leaves: of its rows, of its columns, of all; 0: one a warp.
  int row_parts = 1;
  int column_parts = 0;
  int all_parts = 0;
  /// Half the columns of gated pairs are a multiple of so many; 0: none are computed.
  int gated_columns = 32;
  /// The same of pairs in blocks of eight columns.
  int eights_columns = 8;
  /// Of a convolution: which windows it takes.
  WindowIterator iterator = WindowIterator::analytic;
  WindowStrides strides = WindowStrides::any;
  WindowFilter filter = WindowFilter::any;
};

constexpr bool is_persistent(const GemmTraits& kernel) { return kernel.schedule != Schedule::one_tile; }

/// What a K tile of one block costs, in cycles of a multiprocessor that it has to itself.
struct BlockCost {
  /// Math units at their full rate.
  double math;
  /// Shared memory: reads of fragments and writes of copies.
  double shared;
  /// Copies: bytes from L2, or their instructions where they are narrow.
  double copy;
  /// Least cycles from one K tile to the next, however few blocks there are.
  double latency;
  /// Registers that a thread is likely to need.
  int registers;
  /// Those of the device for this kind of kernel.
  TimeFactors factors = {};
};

/// A kernel on a device: all that ranking computes without the problem.
struct GemmProfile {
  GemmTraits traits;
  /// Whose kernel it is, where that is a GEMM's; the registry knows it and saves asking the row.
  const GemmFamily* family = nullptr;
  /// Whether the kernel takes every problem that is plain (GemmTraffic::is_plain), aligned as it needs and
  /// not longer than `most_k`.
  bool takes_plain = false;
  /// Blocks that a multiprocessor holds at once.
  int resident;
  /// Blocks that the device holds at once.
  int resident_on_device;
  /// Of a K tile of one block, in seconds: the math units at their full rate; shared memory or copies,
  /// whichever is longer; at least.
  double math;
  double memory;
  double latency;
  /// Seconds of the launch.
  double launch;
  /// Square root of the same of a block that is alone, all in all: by it slices are balanced.
  double alone_root;
  /// The same divided by the root of what a slice costs in exchange, in split_k_serial: `turn`; and in
  /// split_k_parallel: `partial_byte` of one output.
  double serial_balance = 0;
  double parallel_balance = 0;
  /// Where SplitKRoots has the root of how many K tiles there are.
  int k_root = SplitKRoots::known;
  /// Seconds of a round that K tiles do not take, for a block that is alone: filling the pipeline, the
  /// way of the results.
  double ends;
  /// Seconds to write the output tile of a block: for each byte of an element, and for taking it out of the
  /// registers.
  double epilogue_byte;
  double epilogue_tile;
  /// gemm_sm90: more of it where lanes store the tile, as the copy engine cannot; with an activation; with C
  /// or a residual alone, and where a bias is beside that; with what else the epilogue reads, writes, scales
  /// or bounds.
  double lanes_tile = 0;
  double activation_tile = 0;
  double added_tile = 0;
  double added_biased_tile = 0;
  double general_tile = 0;
  /// Seconds to hand a tile of split_k_serial from one slice to the next.
  double turn;
  /// Seconds to clear the counters of slices, and to launch the reduction of split_k_parallel.
  double clearing;
  double reduction;
  /// By how much all is slower because code does not fit into registers; 1 where it does.
  double slowdown;
  /// Seconds to move one byte of device memory.
  double memory_byte;
  /// Seconds to write a byte of partial sums and to read it again.
  double partial_byte;
  /// What the device has for all kernels: the rates of the model that the profile was made for, which
  /// outlives it.
  const DeviceRates* rates;
  int multiprocessors;
  /// Of kernels with clusters: as many as the device holds at once, one block a multiprocessor; seconds for
  /// the slices of split_k_cluster to meet, and for each slice to add.
  int clusters = 0;
  double cluster_turn = 0;
  double cluster_slice = 0;
  /// Seconds for the slices to add up a tile of theirs, which they share among them.
  double cluster_share = 0;
  /// Seconds more to leave a tile's partial sums of split_k_parallel than to store a tile of the output.
  double partial_tile = 0;
  /// Least seconds of a K tile for the instructions of one block, however soon its copies are there.
  double least = 0;
  /// Seconds of math more for a K tile where each column of B has scales of its own.
  double column_scales = 0;
  /// By how much the output takes device memory longer than as many bytes of an operand do.
  double output_lines = 1;
  /// By how much a tile takes longer on its way to memory where all lines of the output are split
  /// (SplitLines): each touches a line of L2 more.
  double split_output = 0;
  /// How much of a copy comes from device memory where that and L2 move as much in the same time.
  double first_scale = 0;
  /// gemm_sm90: how much the lines of A count where copies are slower than copies of whole lines of L2: 1, 0
  /// or half.
  double copied_a = 0.5;
  /// The share of device memory's time, or of the multiprocessors' where that is shorter, that adds to the
  /// other one where very many tiles follow one another. All of it adds where none does.
  double unhidden_memory = 1;
  /// The share of it that is hidden where no tiles follow one another, but very many K tiles, and the
  /// multiprocessors take much longer.
  double hidden_in_tile = 0;
  /// The most slices of K that are chosen for split_k_parallel where the caller leaves it open: beyond that,
  /// adding up costs more than it brings.
  int most_slices = 32;
  /// SplitKLimits::most_rounds.
  int most_rounds = 1;
  /// Slices of split_k_parallel have two lengths where one would leave blocks idle (common/long_slices.hpp).
  bool lengthens_slices = false;
};

}  // namespace quarry
