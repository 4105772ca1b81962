/// The main loop of kernels whose operands are copied asynchronously: several K tiles are on their way while
/// one is multiplied, and each step's fragments are read while the step before is multiplied.
#pragma once

#include "arch/arch.hpp"
#include "gemm_simt/config.hpp"

namespace quarry::gemm_simt {

/// What a thread reads of both operands for one step along K.
template <class S, int rows, int columns>
struct Fragment {
  arch::Vector<float, S::width_m> a[rows / S::width_m];
  arch::Vector<float, S::width_n> b[columns / S::width_n];
};

/// Reads a thread's fragments. @param line_a, line_b where its first ones lie in the stage
template <Config config, class S, class Fragment>
QUARRY_DEVICE void read_fragment(Fragment& fragment, arch::SharedAddress line_a, arch::SharedAddress line_b) {
  using VectorM = arch::Vector<float, S::width_m>;
  using VectorN = arch::Vector<float, S::width_n>;
  constexpr int bytes = compute_bytes(config);
  QUARRY_UNROLL
  for (int i = 0; i < config.thread_m / S::width_m; ++i) {
    fragment.a[i] = arch::shared_load<VectorM>(line_a + i * S::width_m * bytes);
  }
  QUARRY_UNROLL
  for (int j = 0; j < config.thread_n / S::width_n; ++j) {
    fragment.b[j] = arch::shared_load<VectorN>(line_b + j * S::column_step * bytes);
  }
}

/// Adds a step's products. A multiplication reads three registers: a sum, a number of B, and a number of A,
/// which is kept from the multiplication before. The first two come from different banks where one register
/// is even and the other one odd. Sums lie in the order in which they are stored, and numbers of B in the
/// same order, except that two neighbours are swapped, where words of B are copied. Where vectors are, sums
/// leave one by one (stage_sums), and the assembler finds banks for them.
template <Config config, class S, class Fragment, class Sums>
QUARRY_DEVICE void multiply_fragment(const Fragment& fragment, Sums& sums) {
  constexpr int swap = swaps_neighbours(config) ? 1 : 0;
  QUARRY_UNROLL
  for (int i = 0; i < config.thread_m; ++i) {
    QUARRY_UNROLL
    for (int number = 0; number < config.thread_n; ++number) {
      const int j = turns_back(config) && i % 2 != 0 ? config.thread_n - 1 - number : number;
      sums.of[i][j] = arch::fma(fragment.a[i / S::width_m].v[i % S::width_m],
                                fragment.b[j / S::width_n].v[(j % S::width_n) ^ swap], sums.of[i][j]);
    }
  }
}

/// Adds up the products of `k_tiles` K tiles, at least 1. A tile's copies are a group of cp.async: `stages` -
/// 1 of them are under way. The one barrier of a tile stands before its last step is multiplied: by then the
/// next tile has arrived, and all threads have read the last fragments of this one, whose stage the next
/// copies go to.
template <Config config, class S, class SourceA, class SourceB, class Sums>
QUARRY_DEVICE void pipeline(SourceA source_a, SourceB source_b, int k_tiles, int thread_row,
                            int thread_column, Sums& sums) {
  constexpr int stages = config.stages;
  constexpr int steps = k_steps(config);
  static_assert(copying_step(config) < steps - 1, "copies start before the last step waits for others");
  constexpr int bytes = compute_bytes(config);
  constexpr int stage_bytes = stage_bytes_a(config) + stage_bytes_b(config);
  const arch::SharedAddress memory = arch::shared_memory();
  const int offset_a = thread_row * config.thread_m * bytes;
  const int offset_b = stage_bytes_a(config) + thread_column * S::width_n * bytes;
  const auto copy = [&](arch::SharedAddress stage) {
    source_a.copy(stage);
    source_b.copy(stage + stage_bytes_a(config));
    arch::copy_async_commit();
  };
  QUARRY_UNROLL
  for (int stage = 0; stage < stages - 1; ++stage) copy(memory + stage * stage_bytes);
  arch::copy_async_wait<stages - 2>();
  arch::block_barrier();

  Fragment<S, config.thread_m, config.thread_n> fragments[2];
  read_fragment<config, S>(fragments[0], memory + offset_a, memory + offset_b);
  int read = 0;
  int written = stages - 1;
  QUARRY_ROLLED
  for (int tile = 0; tile < k_tiles; ++tile) {
    const arch::SharedAddress next_copies = memory + written * stage_bytes;
    written = read;
    const arch::SharedAddress stage = memory + read * stage_bytes;
    read = read == stages - 1 ? 0 : read + 1;
    QUARRY_UNROLL
    for (int step = 0; step < steps; ++step) {
      const bool is_last = step == steps - 1;
      if (step == copying_step(config)) copy(next_copies);  // past the last tile: zeros, from nowhere
      if (is_last) {
        arch::copy_async_wait<stages - 2>();
        arch::block_barrier();
      }
      const arch::SharedAddress from = is_last ? memory + read * stage_bytes : stage;
      const int next = is_last ? 0 : step + 1;
      read_fragment<config, S>(fragments[(step + 1) % 2],
                               from + offset_a + next * line_elements(config.tile.m) * bytes,
                               from + offset_b + next * line_elements(config.tile.n) * bytes);
      multiply_fragment<config, S>(fragments[step % 2], sums);
    }
  }
  arch::copy_async_wait<0>();
  arch::block_barrier();  // the epilogue takes the stages' memory
}

}  // namespace quarry::gemm_simt
