/// Probes of arch/.../barrier.hpp: threads hand on values in rounds, with a result that is right in one order
/// only.
#pragma once

#include "tests/kernels/arch/probes/items.cuh"

namespace quarry::probes {

/// A value from two, in which their order counts.
QUARRY_DEVICE unsigned mixed(unsigned a, unsigned b) { return (a * 2654435761u) ^ (b + (a >> 7)); }

/// `members` threads, whose words begin at `base`, tell each other their values `rounds` times; `meet` lets
/// them meet.
template <class Meet>
QUARRY_DEVICE unsigned exchange(arch::SharedAddress base, int member, int members, int rounds, unsigned value,
                                Meet meet) {
  QUARRY_ROLLED
  for (int round = 0; round < rounds; ++round) {
    arch::shared_store(base + 4 * member, value);
    meet();
    const int other = (member + 1 + 7 * round) % members;
    value = mixed(value, arch::shared_load<unsigned>(base + 4 * other));
    meet();
  }
  return value;
}

template <Block block>
QUARRY_DEVICE void block_barrier(const ProbeParams& params) {
  const int me = global_thread<block>();
  const unsigned value = exchange(arch::shared_memory(), arch::thread_index(), block.threads, 8,
                                  arch::global_load<unsigned>(params.in + me), [] { arch::block_barrier(); });
  arch::global_store(params.out + me, value);
}

template <Block block>
QUARRY_DEVICE void warp_barrier(const ProbeParams& params) {
  const int me = global_thread<block>();
  const int warp = arch::thread_index() / 32;
  const unsigned value = exchange(arch::shared_memory() + 128 * warp, arch::lane_index(), 32, 3 + warp,
                                  arch::global_load<unsigned>(params.in + me), [] { arch::warp_barrier(); });
  arch::global_store(params.out + me, value);
}

/// Each half of the block meets at barriers of its own, and as often as it likes.
template <Block block>
QUARRY_DEVICE void named_barrier(const ProbeParams& params) {
  constexpr int half = block.threads / 2;
  const int me = arch::thread_index();
  const int which = me / half;
  const auto meet = [which] {
    arch::named_barrier(1 + which, half);
    arch::named_barrier(14 + which, half);
  };
  const unsigned value = exchange(arch::shared_memory() + 4 * half * which, me % half, half, 5 + 3 * which,
                                  arch::global_load<unsigned>(params.in + me), meet);
  arch::global_store(params.out + me, value);
}

/// The first half of the block fills a buffer, the second reads it, four times: each says so to the other
/// without waiting, and waits only for what it needs.
template <Block block>
QUARRY_DEVICE void named_barrier_arrive(const ProbeParams& params) {
  constexpr int half = block.threads / 2;
  constexpr int rounds = 4;
  constexpr int full = 3;
  constexpr int empty = 4;
  const int me = arch::thread_index();
  const arch::SharedAddress base = arch::shared_memory();
  QUARRY_ROLLED
  for (int round = 0; round < rounds; ++round) {
    const int item = round * half + me % half;
    if (me < half) {
      if (round > 0) arch::named_barrier(empty, block.threads);
      arch::shared_store(base + 4 * me, arch::global_load<unsigned>(params.in + item));
      arch::named_barrier_arrive(full, block.threads);
    } else {
      arch::named_barrier(full, block.threads);
      const int other = (me + 11 * round + 1) % half;
      arch::global_store(params.out + item, arch::shared_load<unsigned>(base + 4 * other));
      if (round + 1 < rounds) arch::named_barrier_arrive(empty, block.threads);
    }
  }
}

/// Counters: one that a thread alone adds to (past the largest int, too), one that all add to, and one that
/// hands out tickets, of which each must be drawn once. `in`: 8 words, then one a thread.
template <Block block>
QUARRY_DEVICE void fetch_add(const ProbeParams& params) {
  constexpr int additions = 8;
  const int me = global_thread<block>();
  if (me == 0) {
    for (int i = 0; i < additions; ++i) {
      const int value = arch::global_load<int>(params.in + i);
      arch::global_store(params.out + i, arch::fetch_add(params.counters, value));
    }
  }
  arch::fetch_add(params.counters + 1, arch::global_load<int>(params.in + additions + me));
  const int ticket = arch::fetch_add(params.counters + 2, 1);
  arch::global_store(params.out + additions + ticket, 1u);
}

/// Each block goes on with what the one before it left. Its turn is the order in which blocks started, so
/// that none waits for one that has not.
template <Block block>
QUARRY_DEVICE void acquire_release(const ProbeParams& params) {
  const int me = arch::thread_index();
  const arch::SharedAddress scratch = arch::shared_memory();
  int* const tickets = params.counters;
  int* const turn = params.counters + 1;
  if (me == 0) arch::shared_store(scratch, arch::fetch_add(tickets, 1));
  arch::block_barrier();
  const int mine = arch::shared_load<int>(scratch);
  if (me == 0) {
    while (arch::load_acquire(turn) != mine) {
    }
  }
  arch::block_barrier();
  const int at = mine * block.threads + me;
  const int neighbour = mine * block.threads - 1 - me;  // of the block before
  const unsigned before = mine == 0 ? 0 : arch::global_load<unsigned>(params.out + neighbour);
  arch::global_store(params.out + at, mixed(before, arch::global_load<unsigned>(params.in + at)));
  arch::block_barrier();
  if (me == 0) arch::store_release(turn, mine + 1);
}

}  // namespace quarry::probes
