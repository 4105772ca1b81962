/// What small kernels of a warpgroup's matrix instructions have in common: operands, and instructions on
/// them.
#pragma once

#include "trial.hpp"
#include "warpgroup_operands.hpp"

namespace quarry::test {

inline constexpr int n = 8;
inline constexpr OperandTile tile_a = {arch::Major::k, 64, 128};
inline constexpr OperandTile tile_b = {arch::Major::k, n, 128};
using Sums = arch::WarpgroupSumsF32<n>;

inline arch::SharedAddress at_a() { return arch::shared_memory(); }
inline arch::SharedAddress at_b() { return at_a() + tile_a.bytes(); }
inline constexpr unsigned tile_bytes = tile_a.bytes() + tile_b.bytes();
inline constexpr Setup one_group = {.threads = 128, .shared_memory = tile_bytes};

/// All threads store their part of the operands by ordinary means.
inline void store_operands(int threads = 128) {
  store_tile<arch::BF16>(tile_a, at_a(), threads, element_a);
  store_tile<arch::BF16>(tile_b, at_b(), threads, [](int i, int k) { return element_b(k, i); });
}

inline void prepare(int threads = 128) {
  store_operands(threads);
  arch::async_proxy_fence();
  arch::block_barrier();
}

inline void multiply(Sums& sums, int step, int accumulate,
                     const emulator::Site& site = emulator::Site::current()) {
  arch::warpgroup_multiply<arch::BF16, arch::Major::k, arch::Major::k>(
      sums, tile_a.descriptor(at_a().value, step), tile_b.descriptor(at_b().value, step), accumulate, site);
}

inline void finish() {
  arch::warpgroup_commit();
  arch::warpgroup_wait<0>();
}

inline bool is_thread(int thread) { return arch::thread_index() == thread; }

}  // namespace quarry::test
