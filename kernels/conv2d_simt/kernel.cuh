/// Convolution with plain fused multiply-add, or for bytes dot products of four: the main loop of gemm_simt,
/// whose operands are gathered from tensors.
#pragma once

#include "conv2d/work.cuh"
#include "conv2d_simt/config.hpp"
#include "conv2d_simt/loader.cuh"
#include "conv2d_simt/output.cuh"

namespace quarry::conv2d_simt {

/// What follows from the config of the product inside the kernel.
template <gemm_simt::Config config, Direction direction, bool interleaved>
struct Loaders {
  using From = Matrices<direction, interleaved>;
  static constexpr int packed = gemm_simt::packed_k(config);
  static constexpr int steps = gemm_simt::k_steps(config);
  using Shape = gemm_simt::Shape<config>;

  using A = GatheringLoader<typename From::A, typename Shape::A, typename Shape::ItemA, packed, config.tile.m,
                            steps, Shape::threads, config.layouts.a == Layout::row>;
  using B = GatheringLoader<typename From::B, typename Shape::B, typename Shape::ItemB, packed, config.tile.n,
                            steps, Shape::threads, config.layouts.b == Layout::column>;
};

/// Finds the block's work, multiplies, writes. @tparam config of the product
template <gemm_simt::Config config, Direction direction, bool interleaved, class Epilogue>
QUARRY_DEVICE void convolve(const Conv2dParams& params) {
  using L = Loaders<config, direction, interleaved>;
  using S = gemm_simt::Shape<config>;
  const arch::SharedAddress memory = arch::shared_memory();
  const TileWork tile = work_at(params, work_position(params, memory), config.tile.k);
  const GroupWork<direction> work = of_group<direction>(tile);
  const int thread_row = arch::thread_index() / S::threads_n;
  const int thread_column = arch::thread_index() % S::threads_n;

  gemm_simt::Sums<config> sums;
  if (work.k_tiles > 0) {
    const int k_first = work.first_k_tile * config.tile.k;
    const int k_end = k_first + k_elements(work, config.tile.k);
    const Windows& windows = params.windows;
    const typename L::A a(params, {params.a, work.batch * windows.group_a, work.tile_m * config.tile.m,
                                   params.m, k_first, k_end});
    const typename L::B b(params, {params.b, work.batch * windows.group_b, work.tile_n * config.tile.n,
                                   params.n, k_first, k_end});
    gemm_simt::mainloop<config>(a, b, work.k_tiles, thread_row, thread_column, sums, [](int) {});
  }
  gemm_simt::write_sums<config, Epilogue>(params, memory, work, thread_row, thread_column, sums);
}

/// The kernel. (GCC 12 fails on types of a config that is computed from a parameter, so that is one, too.)
template <Config config, class Epilogue = typename EpilogueOf<config.direction, is_interleaved(config.layout),
                                                              scales_groups(config)>::Type>
QUARRY_DEVICE void kernel(const Conv2dParams& params) {
  convolve<product(config), config.direction, is_interleaved(config.layout), Epilogue>(params);
}

}  // namespace quarry::conv2d_simt
