/// Probes of arch/.../cluster.hpp and mbarrier.hpp: blocks hand on values in rounds, with a result that is
/// right in one order only.
#pragma once

#include "arch/sm90.hpp"
#include "tests/kernels/arch/probes/barrier.cuh"

namespace quarry::probes {

template <Block block>
QUARRY_DEVICE void cluster_indices(const ProbeParams& params) {
  int* const out = reinterpret_cast<int*>(params.out) + 4 * global_thread<block>();
  arch::global_store(out, arch::cluster_rank());
  arch::global_store(out + 1, arch::cluster_blocks());
  arch::global_store(out + 2, static_cast<int>(arch::cluster_index()));
  arch::global_store(out + 3, static_cast<int>(arch::grid_clusters()));
}

/// Each thread reads four values of another block, as often as there are blocks.
template <Block block>
QUARRY_DEVICE void cluster_exchange(const ProbeParams& params) {
  using Four = arch::Vector<float, 4>;
  const int me = arch::thread_index();
  const arch::SharedAddress base = arch::shared_memory();
  Four mine = arch::global_load<Four>(params.in + 4 * global_thread<block>());
  QUARRY_ROLLED
  for (int round = 1; round <= arch::cluster_blocks(); ++round) {
    arch::shared_store(base + 16 * me, mine);
    arch::cluster_arrive();
    arch::cluster_wait();
    const int rank = (arch::cluster_rank() + round) % arch::cluster_blocks();
    const Four other = arch::peer_load<Four>(base + 16 * ((me + 5 * round) % block.threads), rank);
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      mine.v[i] = __builtin_bit_cast(float, mixed(__builtin_bit_cast(unsigned, mine.v[i]),
                                                  __builtin_bit_cast(unsigned, other.v[3 - i])));
    }
    arch::cluster_arrive();
    arch::cluster_wait();
  }
  arch::global_store(params.out + 4 * global_thread<block>(), mine);
}

/// Makes barriers at the start of shared memory, each of so many arrivals, known to the cluster.
QUARRY_DEVICE void make_barriers(arch::SharedAddress base, int count, int arrivals) {
  if (arch::thread_index() == 0) {
    for (int i = 0; i < count; ++i) arch::mbarrier_init(base + 8 * i, arrivals);
    arch::mbarrier_init_fence();
  }
  arch::cluster_arrive_relaxed();
  arch::cluster_wait();
}

/// The first half of the block fills two buffers in turn, the second one shows them: each waits only for what
/// it needs.
template <Block block>
QUARRY_DEVICE void mbarrier_ring(const ProbeParams& params) {
  constexpr int half = block.threads / 2;
  constexpr int rounds = 7;
  constexpr int stages = 2;
  const arch::SharedAddress base = arch::shared_memory();
  const arch::SharedAddress data = base + 128;
  make_barriers(base, 2 * stages, half);
  const int t = arch::thread_index() % half;
  int parity = 0;
  QUARRY_ROLLED
  for (int round = 0; round < rounds; ++round) {
    const int stage = round % stages;
    const arch::SharedAddress full = base + 8 * stage;
    const arch::SharedAddress empty = base + 8 * (stages + stage);
    if (arch::thread_index() < half) {
      arch::mbarrier_wait(empty, parity ^ 1);
      arch::shared_store(data + 4 * (half * stage + t),
                         arch::global_load<unsigned>(params.in + round * half + t));
      arch::mbarrier_arrive(full);
    } else {
      arch::mbarrier_wait(full, parity);
      const auto value = arch::shared_load<unsigned>(data + 4 * (half * stage + (t + 11 * round + 1) % half));
      arch::mbarrier_arrive(empty);
      arch::global_store(params.out + round * half + t, value);
    }
    if (stage == stages - 1) parity ^= 1;
  }
}

/// As mbarrier_ring, of copies that the first half starts and does not wait for: several stages of them are
/// under way, and each arrives at its own barrier.
template <Block block>
QUARRY_DEVICE void mbarrier_copies(const ProbeParams& params) {
  constexpr int half = block.threads / 2;
  constexpr int rounds = 7;
  constexpr int stages = 4;
  const arch::SharedAddress base = arch::shared_memory();
  const arch::SharedAddress data = base + 128;
  make_barriers(base, 2 * stages, half);
  const int t = arch::thread_index() % half;
  int parity = 0;
  QUARRY_ROLLED
  for (int round = 0; round < rounds; ++round) {
    const int stage = round % stages;
    const arch::SharedAddress full = base + 8 * stage;
    const arch::SharedAddress empty = base + 8 * (stages + stage);
    const arch::SharedAddress set = data + 16 * half * stage;
    const unsigned* const from = params.in + 4 * (round * half + t);
    if (arch::thread_index() < half) {
      arch::mbarrier_wait(empty, parity ^ 1);
      arch::copy_async<8>(set + 16 * t, from, 8);
      arch::copy_async<4>(set + 16 * t + 8, from + 2, 4);
      arch::copy_async<4>(set + 16 * t + 12, from + 3, 4);
      arch::mbarrier_arrive_copied(full);
    } else {
      arch::mbarrier_wait(full, parity);
      const auto values =
          arch::shared_load<arch::Vector<unsigned, 4>>(set + 16 * ((t + 11 * round + 1) % half));
      arch::mbarrier_arrive(empty);
      arch::global_store(params.out + 4 * (round * half + t), values);
    }
    if (stage == stages - 1) parity ^= 1;
  }
}

/// A token goes round the cluster: who has it mixes it with a value of its own, leaves it where the next
/// block finds it, and arrives at the barrier of that one.
template <Block block>
QUARRY_DEVICE void mbarrier_token(const ProbeParams& params) {
  using Four = arch::Vector<float, 4>;
  constexpr int rounds = 3;
  const arch::SharedAddress base = arch::shared_memory();
  const int t = arch::thread_index();
  const int rank = arch::cluster_rank();
  const int blocks = arch::cluster_blocks();
  const arch::SharedAddress mine = base + (128 + 16 * t);
  make_barriers(base, 1, block.threads);
  const unsigned own = arch::global_load<unsigned>(params.in + global_thread<block>());
  unsigned token = own;
  Four left = {};
  QUARRY_UNROLL
  for (int round = 0; round < rounds; ++round) {
    if (round > 0 || rank > 0) {
      arch::mbarrier_wait(base, (rank > 0 ? round : round - 1) % 2);
      const Four found = arch::peer_load<Four>(mine, (rank + blocks - 1) % blocks);
      token = mixed(__builtin_bit_cast(unsigned, found.v[(rank > 0 ? round : round - 1) % 4]), own);
    }
    left.v[round] = __builtin_bit_cast(float, token);
    arch::shared_store(mine, left);
    if (round < rounds - 1 || rank < blocks - 1) arch::mbarrier_arrive_at(base, (rank + 1) % blocks);
  }
  arch::global_store(params.out + global_thread<block>(), token);
  arch::cluster_arrive();
  arch::cluster_wait();
}

/// A launch that nothing overlaps with: the functions do nothing, and a value that is loaded early stays as
/// it is.
template <Block block>
QUARRY_DEVICE void overlapping_kernels(const ProbeParams& params) {
  arch::wait_for_earlier_kernels();
  arch::let_later_kernels_start();
  const int me = global_thread<block>();
  const unsigned word = arch::global_load<unsigned>(params.in + me);
  arch::load_now(static_cast<int>(word));
  arch::global_store(params.out + me, word);
}

}  // namespace quarry::probes
