/// GEMM of 16-bit activations and weights of half a byte or a byte.
///
/// Weights are read as they are stored, column-major: no special layout is needed. A copy of 16 bytes a lane
/// brings 64 or 128 neighbouring bytes of columns, which are whole sectors, and 128 positions of K, which are
/// whole groups of scales. K is in any order within them, as long as A is read in the same.
#pragma once

#include "common/epilogue.cuh"
#include "common/staged_tile.cuh"
#include "common/tile_scheduler.cuh"
#include "common/tile_writer.cuh"
#include "gemm/params.hpp"
#include "gemm_narrow_sm80/copies.cuh"
#include "gemm_narrow_sm80/direct.cuh"
#include "gemm_narrow_sm80/sums.cuh"
#include "gemm_narrow_sm80/zeros.cuh"

namespace quarry::gemm_narrow_sm80 {

/// Which part of the tile, and of a K tile, a warp multiplies.
struct WarpPlace {
  int n;
  int k;
};
template <Config config>
QUARRY_DEVICE WarpPlace warp_place() {
  const int warp = arch::warp_index();
  return {warp % config.warps.n, warp / config.warps.n};
}

/// Waits for the warps of one group along K, whose copies have landed.
template <Config config>
QUARRY_DEVICE void group_barrier(int group) {
  if constexpr (config.warps.n == 1) {
    arch::warp_barrier();
  } else {
    arch::named_barrier(group + 1, group_threads(config));
  }
}

/// Adds up the products of the work. Each group of warps along K has a ring of stages, and knows nothing of
/// the other groups.
///
/// Zero points of a stage are on their way while that before it is multiplied: they are written to shared
/// memory just before the barrier behind which the stage may be read.
/// @param zeros ZeroCopies or NoZeroCopies
template <Config config, class Work, class Zeros>
QUARRY_DEVICE void mainloop(const GemmParams& params, const GemmScaleParams& scales, const Work& work,
                            const WarpPlace& place, Zeros zeros, Sums<config>& sums) {
  const arch::SharedAddress first = arch::shared_memory() + place.k * config.stages * stage_bytes(config);
  const arch::SharedAddress last = first + (config.stages - 1) * stage_bytes(config);
  const auto next = [=](arch::SharedAddress stage) {
    return stage == last ? first : stage + stage_bytes(config);
  };
  StageCopies<config> copies(params, scales.b, work, place.k);
  const ScaleView scales_a(scales.a, work.a().batch);
  const WarpProduct<config> product(place.n, scales.b, scales_a, scales.a.values.data != nullptr,
                                    work.tile_m * config.tile.m, work.m(), work.k());
  arch::SharedAddress filled = first;
  QUARRY_ROLLED
  for (int i = 0; i < config.stages - 1; ++i) {
    copies.start(filled);
    filled = next(filled);
  }
  zeros.begin(first);
  arch::SharedAddress read = first;
  int k = work.first_k_tile * config.tile.k + place.k * stage_k;
  QUARRY_ROLLED
  for (int tile = 0; tile < work.k_tiles; ++tile) {
    arch::copy_async_wait<config.stages - 2>();
    zeros.land();
    group_barrier<config>(place.k);  // all have copied this stage, and have read the one before it
    copies.start(filled);
    zeros.start(filled);
    filled = next(filled);
    product.multiply(read, k, sums);
    read = next(read);
    k += config.tile.k;
  }
  arch::copy_async_wait<0>();
  arch::block_barrier();  // the epilogue uses the stages' memory for something else
}

/// The sums of a group of warps in shared memory.
template <Config config>
QUARRY_DEVICE StagedTile<float, config.tile.n> sums_of_group(arch::SharedAddress memory, int group) {
  return {memory + group * sums_bytes(config)};
}

/// Puts a warp's sums into shared memory, and adds the sums of all groups along K to the first one's, in
/// order.
template <Config config>
QUARRY_DEVICE void stage_sums(const Sums<config>& sums, const WarpPlace& place, arch::SharedAddress memory) {
  using S = Shape<config>;
  const auto own = sums_of_group<config>(memory, place.k);
  const int lane = arch::lane_index();
  QUARRY_UNROLL
  for (int n = 0; n < S::blocks_n; ++n) {
    QUARRY_UNROLL
    for (int m = 0; m < S::blocks_m; ++m) {
      QUARRY_UNROLL
      for (int v = 0; v < 4; ++v) {
        const int row = m * 8 + lane % 4 * 2 + v % 2;
        const int column = place.n * S::warp_n + n * 16 + lane / 4 + v / 2 * 8;
        arch::shared_store(own.at(row, column), sums.all[n][m].v[v]);
      }
    }
  }
  if constexpr (config.warps.k > 1) {
    arch::block_barrier();
    constexpr int quads = config.tile.n / 4;
    QUARRY_ROLLED
    for (int i = arch::thread_index(); i < config.tile.m * quads; i += threads(config)) {
      const int row = i / quads;
      const int column = i % quads * 4;
      const arch::SharedAddress to = sums_of_group<config>(memory, 0).at(row, column);
      auto sum = arch::shared_load<Quad<float>>(to);
      QUARRY_UNROLL
      for (int group = 1; group < config.warps.k; ++group) {
        const auto more =
            arch::shared_load<Quad<float>>(sums_of_group<config>(memory, group).at(row, column));
        sum = quads_added(sum, more);
      }
      arch::shared_store(to, sum);
    }
  }
}

/// Finds the block's work, multiplies, writes. @param zeros_of(work, place) makes ZeroCopies or NoZeroCopies
template <Config config, class Epilogue, class ZerosOf>
QUARRY_DEVICE void compute(const ScaledGemmParams& params, const ZerosOf& zeros_of) {
  const GemmParams& gemm = params.gemm;
  const arch::SharedAddress memory = arch::shared_memory();
  if constexpr (loads_directly(config)) {
    load_lines(params);
    if (reads_first(params)) arch::wait_for_earlier_kernels();
  }
  const TileWork work = work_at(gemm, work_position(gemm, memory), config.tile.k);
  const WarpPlace place = warp_place<config>();
  Sums<config> sums;
  if (work.k_tiles > 0) {
    if constexpr (loads_directly(config)) {
      direct_mainloop<config>(params, work, place.n, place.k, sums);
    } else {
      mainloop<config>(gemm, params.scales, work, place, zeros_of(work, place), sums);
    }
  }
  if constexpr (loads_directly(config)) {
    arch::wait_for_earlier_kernels();  // where there is nothing to multiply
    arch::let_later_kernels_start();
  }

  using Finish = typename Epilogue::template For<float, Element<config.types.out>, EpilogueForm{}>;
  constexpr int m = config.tile.m;
  constexpr StagedRows rows = {m, m, m, m, 1};
  const TileWriter<float, Finish, TileWork> writer(gemm, work, config.tile);
  write_tile<float, config.tile.n, rows, threads(config)>(
      memory, writer, [&](int, const auto&) { stage_sums<config>(sums, place, memory); });
}

/// The kernel, without and with zero points.
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ScaledGemmParams& params) {
  compute<config, Epilogue>(params, [](const TileWork&, const WarpPlace&) { return NoZeroCopies(); });
}
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ZeroGemmParams& params) {
  compute<config, Epilogue>(params.scaled, [&](const TileWork& work, const WarpPlace& place) {
    return ZeroCopies<config>(params.zeros.b, params.scaled.scales.b, work,
                              work.first_k_tile * config.tile.k + place.k * stage_k);
  });
}

}  // namespace quarry::gemm_narrow_sm80
