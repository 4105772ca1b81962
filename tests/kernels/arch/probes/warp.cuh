/// Probe of arch/.../warp.hpp.
#pragma once

#include "tests/kernels/arch/probes/items.cuh"

namespace quarry::probes {

/// What each lane is told: the value of another one, of the last, and of one whose number is beyond the warp;
/// and the first lane with a set bit, which some warps have in few lanes or none.
template <Block block>
QUARRY_DEVICE void lanes(const ProbeParams& params) {
  const int me = global_thread<block>();
  const int value = static_cast<int>(arch::global_load<unsigned>(params.in + 2 * me));
  const unsigned draw = arch::global_load<unsigned>(params.in + 2 * me + 1);
  unsigned* const out = params.out + 4 * me;
  arch::global_store(out, static_cast<unsigned>(arch::shuffle(value, static_cast<int>(draw % 32))));
  arch::global_store(out + 1, static_cast<unsigned>(arch::shuffle(value, 31)));
  arch::global_store(out + 2, static_cast<unsigned>(arch::shuffle(value, arch::lane_index() - 1)));
  const bool may_be_set = arch::warp_index() % 2 == 0;
  const bool is_set = draw % 64 == 0 && may_be_set;
  arch::global_store(out + 3, static_cast<unsigned>(arch::first_lane(is_set)));
}

}  // namespace quarry::probes
