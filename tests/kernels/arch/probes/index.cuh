/// Probe of arch/.../index.hpp.
#pragma once

#include "tests/kernels/arch/probes/items.cuh"

namespace quarry::probes {

/// All indices of a thread.
template <Block block>
QUARRY_DEVICE void indices(const ProbeParams& params) {
  unsigned* const out = params.out + 5 * global_thread<block>();
  arch::global_store(out, arch::block_index());
  arch::global_store(out + 1, arch::grid_blocks());
  arch::global_store(out + 2, static_cast<unsigned>(arch::thread_index()));
  arch::global_store(out + 3, static_cast<unsigned>(arch::warp_index()));
  arch::global_store(out + 4, static_cast<unsigned>(arch::lane_index()));
}

}  // namespace quarry::probes
