/// The compile-time parameters of one gemm_simt kernel, and what follows from them.
#pragma once

#include "common/config_parts.hpp"

namespace quarry::gemm_simt {

/// One kernel: plain fused multiply-add from shared memory, any stride along both extents, any alignment and size.
struct Config {
  Types types;
  Layouts layouts;
  Tile tile;
  /// Output elements that one thread computes along M and N.
  int thread_m;
  int thread_n;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Threads of a block.
constexpr int threads(const Config& c) { return (c.tile.m / c.thread_m) * (c.tile.n / c.thread_n); }

/// Bytes of one element in shared memory and in the accumulators: products are computed in the accumulator's type, f16 ones
/// in f32 and rounded after each addition.
constexpr int compute_bytes(const Config& c) { return c.types.accumulator == DType::f64 ? 8 : 4; }

/// Bytes of dynamic shared memory: two stages of both operands, each row padded by one element.
constexpr int shared_memory_bytes(const Config& c) {
  return 2 * c.tile.k * (c.tile.m + 1 + c.tile.n + 1) * compute_bytes(c);
}

/// The config whose device code a row runs: a column-major output is its transpose, row-major.
constexpr Config entry(const Config& c) {
  if (c.layouts.out == Layout::row) return c;
  return {exchanged(c.types), exchanged(c.layouts), exchanged(c.tile), c.thread_n, c.thread_m};
}

}  // namespace quarry::gemm_simt
