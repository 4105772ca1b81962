/// Convolution with mma.sync: the pipeline, main loop and epilogue of gemm_sm80, whose copies gather their
/// pieces from tensors.
#pragma once

#include "conv2d/output.cuh"
#include "conv2d/work.cuh"
#include "conv2d_sm80/config.hpp"
#include "conv2d_sm80/sources.cuh"
#include "gemm_sm80/kernel.cuh"

namespace quarry::conv2d_sm80 {

/// The sources of a product's operands.
template <gemm_sm80::Config config, Direction direction, Iterator iterator>
struct Sources {
  using S = gemm_sm80::Shape<config>;
  using GatherA = Gatherer<MatrixA<direction>, bounds_a(direction), S::a.element_bytes>;
  using GatherB = Gatherer<MatrixB<direction>, bounds_b(direction), S::b.element_bytes>;
  using A = typename SourceOf<GatherA, S::a, S::threads, iterator, copies_asynchronously(S::a)>::Type;
  using B = typename SourceOf<GatherB, S::b, S::threads, iterator, copies_asynchronously(S::b)>::Type;
};

/// Finds the block's work, multiplies, writes. @tparam config of the product
template <gemm_sm80::Config config, Direction direction, Iterator iterator, class Epilogue>
QUARRY_DEVICE void convolve(const Conv2dParams& params) {
  using From = Sources<config, direction, iterator>;
  const arch::SharedAddress memory = arch::shared_memory();
  const TileWork tile = work_at(params, work_position(params, memory), config.tile.k);
  const GroupWork<direction> work = of_group<direction>(tile);

  gemm_sm80::Sums<config> sums;
  if (work.k_tiles > 0) {
    const int k_first = work.first_k_tile * config.tile.k;
    const int k_end = k_first + k_elements(work, config.tile.k);
    const Windows& windows = params.windows;
    const typename From::A a(params, {params.a, work.batch * windows.group_a, work.tile_m * config.tile.m,
                                      params.m, k_first, k_end});
    const typename From::B b(params, {params.b, work.batch * windows.group_b, work.tile_n * config.tile.n,
                                      params.n, k_first, k_end});
    const gemm_sm80::WarpReader<config> reader(gemm_sm80::warp_place<config>());
    gemm_sm80::mainloop<config>(reader, a, b, work.k_tiles, sums);
  }
  gemm_sm80::write_sums<config, Epilogue, TileWriter>(params, work, memory, sums);
}

/// The kernel. (GCC 12 fails on types of a config that is computed from a parameter, so that is one, too.)
template <Config config, class Epilogue = ConvolutionChain<config.direction>>
QUARRY_DEVICE void kernel(const Conv2dParams& params) {
  convolve<product(config), config.direction, config.iterator, Epilogue>(params);
}

}  // namespace quarry::conv2d_sm80
