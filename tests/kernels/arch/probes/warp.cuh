/// Probes of arch/.../warp.hpp.
#pragma once

#include "tests/kernels/arch/probes/items.cuh"

namespace quarry::probes {

/// Rounds of a probe that asks its warp several times, each with inputs of its own.
inline constexpr int warp_rounds = 16;

/// Calls f(i, word) for the thread's word i of `in` in each round.
template <Block block, class Function>
QUARRY_DEVICE void for_each_round(const ProbeParams& params, Function f) {
  QUARRY_ROLLED
  for (int round = 0; round < warp_rounds; ++round) {
    const int i = round * block.threads + arch::thread_index();
    f(i, arch::global_load<unsigned>(params.in + i));
  }
}

/// The words hold the lanes to ask; the lane's own value is made from its index.
template <Block block>
QUARRY_DEVICE void shuffle(const ProbeParams& params) {
  for_each_round<block>(params, [&](int i, unsigned lane) {
    const unsigned value = static_cast<unsigned>(i) * 2654435761u;
    arch::global_store(params.out + i, arch::shuffle(value, static_cast<int>(lane)));
  });
}

/// Every mask, for the thread's one word.
template <Block block>
QUARRY_DEVICE void shuffle_xor(const ProbeParams& params) {
  const int me = arch::thread_index();
  const unsigned value = arch::global_load<unsigned>(params.in + me);
  QUARRY_ROLLED
  for (int mask = 0; mask < 32; ++mask) {
    arch::global_store(params.out + mask * block.threads + me, arch::shuffle_xor(value, mask));
  }
}

template <Block block>
QUARRY_DEVICE void ballot(const ProbeParams& params) {
  for_each_round<block>(
      params, [&](int i, unsigned vote) { arch::global_store(params.out + i, arch::ballot(vote != 0)); });
}

template <Block block>
QUARRY_DEVICE void any_and_all(const ProbeParams& params) {
  for_each_round<block>(params, [&](int i, unsigned vote) {
    const unsigned any = arch::any_lane(vote != 0) ? 1u : 0u;
    const unsigned all = arch::all_lanes(vote != 0) ? 2u : 0u;
    arch::global_store(params.out + i, any | all);
  });
}

}  // namespace quarry::probes
