/// The compile-time parameters of one reduce_split_k kernel, and what follows from them.
#pragma once

#include "quarry/types.hpp"

namespace quarry::reduce_split_k {

/// One kernel: adds the slices' partial outputs in order and runs the epilogue. It follows a parallel
/// split-K, and is there by itself.
struct Config {
  DType partial;  ///< f32, f64 or s32
  DType out;
  /// Of the output: row, whatever its strides, or column_interleaved32.
  Layout layout = Layout::row;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Threads of a block, each of which finishes four neighbours of an output row.
constexpr int threads(const Config&) { return 256; }

/// Fours of neighbours in a row of n outputs; the last may be incomplete.
constexpr int quads_of_row(int n) { return n / 4 + (n % 4 != 0); }

/// @pre the product of all extents is below 2^62
constexpr long long quads_of(int m, int n, int batch) {
  return static_cast<long long>(batch) * m * quads_of_row(n);
}

/// The most threads of a warp that share a quad, as a power of two: together they read whole sectors of
/// memory.
inline constexpr int most_sharers_log2 = 4;

/// From when on threads share: slices that each has at least, and threads at most.
inline constexpr int least_share = 4;
inline constexpr int most_sharing_threads = 1 << 17;

/// Threads that share the slices of a quad, as a power of two. One would read slice after slice, and wait for
/// memory again and again: where outputs are few and slices many, that takes longer than everything else. So
/// their number grows while each has least_share slices and threads find room on the device at once.
constexpr int sharers_log2(int m, int n, int batch, int slices) {
  int log2 = 0;
  while (log2 < most_sharers_log2 && slices >> (log2 + 1) >= least_share &&
         quads_of(m, n, batch) <= most_sharing_threads >> (log2 + 1))
    ++log2;
  return log2;
}

/// Blocks of the one-dimensional grid, which a launch has at most 2^31 - 1 of. @pre the product of all
/// extents is below 2^62 @param sharers as sharers_log2
constexpr long long blocks(int m, int n, int batch, int sharers = 0) {
  const long long quads_of_block = threads({}) >> sharers;
  return (quads_of(m, n, batch) + quads_of_block - 1) / quads_of_block;
}

}  // namespace quarry::reduce_split_k
