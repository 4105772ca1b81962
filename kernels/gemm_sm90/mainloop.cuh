/// The side of the pipeline that multiplies.
#pragma once

#include "gemm_sm90/pipeline.cuh"

namespace quarry::gemm_sm90 {

/// The descriptor of a tile at `address`, of which it takes the lowest 18 bits in sixteens (PTX ISA, matrix
/// descriptor): above them, addresses name the block of the cluster.
QUARRY_DEVICE arch::MatrixDescriptor descriptor_at(unsigned long long fields, arch::SharedAddress address) {
  return fields | static_cast<unsigned long long>((address.value & 0x3ffff) >> 4);
}

/// Instructions along K of a stage.
template <Config config>
constexpr int stage_steps() {
  return config.tile.k / MultiplyOf<config>::k;
}

/// Starts the multiplications of one stage. @tparam first of the warpgroup's blocks of 64 rows, of which the
/// sums are @param group the block's warpgroup, among those that share a tile @param accumulate 0: the first
/// products take the place of the sums
template <Config config, int first = 0, int blocks>
QUARRY_DEVICE void multiply_stage(Sums<config, blocks>& sums, arch::SharedAddress stage, int group,
                                  int accumulate = 1) {
  using Multiply = MultiplyOf<config>;
  constexpr OperandBox a = box_a(config);
  constexpr OperandBox b = box_b(config);
  constexpr arch::Major a_major = a.k_contiguous ? arch::Major::k : arch::Major::mn;
  constexpr arch::Major b_major = b.k_contiguous ? arch::Major::k : arch::Major::mn;
  const arch::SharedAddress stage_a = stage + group * a.block_offset(blocks_m(config));
  const arch::MatrixDescriptor base_a = descriptor_at(a.descriptor(), stage_a);
  const arch::MatrixDescriptor base_b = descriptor_at(b.descriptor(), stage + a.bytes());
  QUARRY_UNROLL
  for (int step = 0; step < stage_steps<config>(); ++step) {
    QUARRY_UNROLL
    for (int block = 0; block < blocks; ++block) {
      const auto at_a = static_cast<unsigned>(a.block_offset(first + block) + a.k_step_offset(step)) / 16;
      const auto at_b = static_cast<unsigned>(b.k_step_offset(step)) / 16;
      Multiply::template start<a_major, b_major>(sums.block[block], base_a + at_a, base_b + at_b,
                                                 step == 0 ? accumulate : 1);
    }
  }
}

template <Config config, int blocks>
QUARRY_DEVICE void hold(Sums<config, blocks>& sums) {
  QUARRY_UNROLL
  for (int block = 0; block < blocks; ++block) arch::warpgroup_hold(sums.block[block]);
}

/// Sums up the products of `k_tiles` stages. One stage's multiplications are under way while the
/// multiplications of the next are started, so that a stage is released one turn later. Calls `all_started`
/// when the last ones are under way.
template <Config config, class AllStarted>
QUARRY_DEVICE void mainloop(Sums<config>& sums, Pipeline<config>& pipeline, int k_tiles, int group,
                            const ClusterPlace& place, const AllStarted& all_started) {
  sums = {};
  arch::SharedAddress last = pipeline.empty();
  hold<config>(sums);
  QUARRY_ROLLED
  for (int tile = 0; tile < k_tiles; ++tile) {
    pipeline.wait();
    arch::warpgroup_fence();
    multiply_stage<config>(sums, pipeline.stage(), group);
    arch::warpgroup_commit();
    if (tile > 0) {
      arch::warpgroup_wait<1>();
      release<config>(last, place);
    }
    last = pipeline.empty();
    pipeline.advance();
  }
  all_started();
  arch::warpgroup_wait<0>();
  hold<config>(sums);
  if (k_tiles > 0) release<config>(last, place);
}

}  // namespace quarry::gemm_sm90
