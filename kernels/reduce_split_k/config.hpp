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

/// Blocks of the one-dimensional grid, which a launch has at most 2^31 - 1 of. @pre the product of all
/// extents is below 2^62
constexpr long long blocks(int m, int n, int batch) {
  const long long quads = static_cast<long long>(batch) * m * quads_of_row(n);
  return (quads + threads({}) - 1) / threads({});
}

}  // namespace quarry::reduce_split_k
