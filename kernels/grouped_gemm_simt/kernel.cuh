/// Grouped GEMM with plain fused multiply-add, or for bytes dot products of four: blocks walk over the tiles
/// of all groups, and compute each as gemm_simt does.
#pragma once

#include "gemm_simt/kernel.cuh"
#include "grouped_gemm/schedule.cuh"
#include "grouped_gemm_simt/config.hpp"

namespace quarry::grouped_gemm_simt {

/// Writes zeros to the rows of a tile.
template <Config config>
QUARRY_DEVICE void write_zeros(const GroupedGemmParams& params, const GroupWork& work) {
  using Out = Element<config.types.out>;
  const MatrixView<Out> out = matrix_of<Out>(params.gemm.out, work.out().batch);
  const int first_row = work.tile_m * config.tile.m;
  const int first_column = work.tile_n * config.tile.n;
  constexpr int quads = config.tile.n / 4;
  QUARRY_ROLLED
  for (int i = arch::thread_index(); i < config.tile.m * quads; i += threads(config)) {
    const int row = first_row + i / quads;
    const int column = first_column + i % quads * 4;
    const int left = work.n() - column;  // none are stored where it is negative
    if (row < work.m()) out.store(work.out().row + row, column, left < 4 ? left : 4, {});
  }
}

/// Multiplies and writes a tile of a group.
template <gemm_simt::Config config, class Epilogue>
QUARRY_DEVICE void compute_tile(const GemmParams& params, arch::SharedAddress memory, const GroupWork& work) {
  using S = gemm_simt::Shape<config>;
  const int thread_row = arch::thread_index() / S::threads_n;
  const int thread_column = arch::thread_index() % S::threads_n;
  gemm_simt::Sums<config> sums;
  if (work.k_tiles > 0) {
    const OperandPart a = part_of_a(params.a, work, config.tile);
    const OperandPart b = part_of_b(params.b, work, config.tile);
    const int k_left = work.k();
    gemm_simt::mainloop<config>(typename S::LoaderA(a, k_left), typename S::LoaderB(b, k_left), work.k_tiles,
                                thread_row, thread_column, sums, [](int) {});
  }
  gemm_simt::write_sums<config, Epilogue>(params, memory, work, thread_row, thread_column, sums);
}

/// The kernel.
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const GroupedGemmParams& params) {
  const arch::SharedAddress memory = arch::shared_memory();
  GroupWalk walk(params, config.tile);
  QUARRY_ROLLED
  for (long long tile = arch::block_index(); walk.seek(tile); tile += arch::grid_blocks()) {
    const GroupWork work = walk.work();
    if (walk.is_outside()) {
      write_zeros<config>(params, work);
    } else {
      compute_tile<tile_config(config), Epilogue>(params.gemm, memory, work);
    }
  }
}

}  // namespace quarry::grouped_gemm_simt
