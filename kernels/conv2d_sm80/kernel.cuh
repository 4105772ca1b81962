/// Convolution with mma.sync: the pipeline, main loop and epilogue of gemm_sm80, whose copies gather their
/// pieces from tensors.
#pragma once

#include "conv2d/output.cuh"
#include "conv2d/phase.cuh"
#include "conv2d/work.cuh"
#include "conv2d_sm80/config.hpp"
#include "conv2d_sm80/sources.cuh"
#include "conv2d_sm80/window.cuh"
#include "conv2d_sm80/window_gradient.cuh"
#include "conv2d_sm80/window_output.cuh"
#include "gemm_sm80/kernel.cuh"

namespace quarry::conv2d_sm80 {

/// The sources of a product's operands.
template <gemm_sm80::Config config, Gathering g>
struct Sources {
  using S = gemm_sm80::Shape<config>;
  using From = Matrices<g.direction, g.interleaved>;
  using GatherA = Gatherer<typename From::A, bounds_a(g), walk(g), S::a.alignment, S::a.element_bytes>;
  using GatherB = Gatherer<typename From::B, bounds_b(g), walk(g), S::b.alignment, S::b.element_bytes>;
  using A = typename SourceOf<GatherA, S::a, S::threads, g.iterator, copies_asynchronously(S::a)>::Type;
  using B = typename SourceOf<GatherB, S::b, S::threads, g.iterator, copies_asynchronously(S::b)>::Type;
};

/// Computes one piece of work: multiplies, writes. @tparam config of the product
template <gemm_sm80::Config config, Gathering g, class Epilogue, class Work>
QUARRY_DEVICE void convolve(const Conv2dParams& params, const Work& work, int group,
                            arch::SharedAddress memory) {
  using From = Sources<config, g>;
  gemm_sm80::Sums<config> sums;
  if (work.k_tiles > 0) {
    const int k_first = work.first_k_tile * config.tile.k;
    const int k_end = k_first + k_elements(work, config.tile.k);
    const Windows& windows = params.windows;
    const typename From::A a(
        params, {params.a, group * windows.group_a, work.tile_m * config.tile.m, params.m, k_first, k_end});
    const typename From::B b(
        params, {params.b, group * windows.group_b, work.tile_n * config.tile.n, params.n, k_first, k_end});
    const gemm_sm80::WarpReader<config> reader(gemm_sm80::warp_place<config>());
    gemm_sm80::mainloop<config>(reader, a, b, work.k_tiles, sums);
  }
  gemm_sm80::write_sums<config, Epilogue, TileWriter>(params, work, memory, sums);
}

/// Finds the block's work and computes it.
template <gemm_sm80::Config config, Gathering g, class Epilogue>
QUARRY_DEVICE void convolve(const Conv2dParams& params) {
  const arch::SharedAddress memory = arch::shared_memory();
  const TileWork tile = work_at(params, work_position(params, memory), config.tile.k);
  convolve<config, g, Epilogue>(params, of_group<g.direction>(tile), tile.batch, memory);
}

/// The same where a launch has phases.
template <gemm_sm80::Config config, Gathering g, class Epilogue>
QUARRY_DEVICE void convolve_phase(const PhasedConv2dParams& all) {
  const arch::SharedAddress memory = arch::shared_memory();
  const TileWork tile = work_at(all, work_position(all, memory), config.tile.k);
  const Conv2dParams params = params_of_phase<bytes_of(config.types.a), bytes_of(config.types.out)>(
      all, tile.batch / all.phases.groups);
  const WorkOf<PhaseGroup> work = of_phase(tile, params, config.tile);
  convolve<config, g, Epilogue>(params, work, work.group, memory);
}

/// Writes the sums of a tile of Iterator::window. @param staging memory that nobody reads any more
template <gemm_sm80::Config config, class Epilogue>
QUARRY_DEVICE void write_window_sums(const WindowConv2dParams& params, const TileOrigin& origin, int group,
                                     int first_column, arch::SharedAddress staging,
                                     const gemm_sm80::Sums<config>& sums) {
  using S = gemm_sm80::Shape<config>;
  using C = Compute<config.types.accumulator>;
  using Finish = typename Epilogue::template For<C, Element<config.types.out>, EpilogueForm{}>;
  constexpr StagedRows rows = {staging_rows(config.tile, config.warps), 16, S::warp.m, 16, S::blocks_m};
  const WindowTile tile = {params.epilogue,
                           params.c,
                           params.out,
                           origin,
                           params.patches.columns_log2,
                           has_whole_quads<Direction::fprop>(params)};
  const WindowWriter<C, Finish> writer(params, tile, config.tile, group, first_column);
  const gemm_sm80::WarpPlace place = gemm_sm80::warp_place<config>();
  write_tile<C, config.tile.n, rows, S::threads>(staging, writer, [&](int pass, const auto& staged) {
    gemm_sm80::stage_sums<config, C>(sums, place, pass, staged);
  });
}

/// The same of Iterator::window: a block brings the filters of its columns once, then computes every so
/// manieth tile.
template <gemm_sm80::Config config, WindowMemory layout, class Epilogue>
QUARRY_DEVICE void convolve_windows(const WindowConv2dParams& params) {
  constexpr int threads = gemm_sm80::threads(config);
  const arch::SharedAddress memory = arch::shared_memory();
  const Patches& patches = params.patches;
  const Parts part = in_parts(arch::block_index(), static_cast<unsigned>(params.tiles_n * params.batch));
  const Parts column = in_parts(part.rest, static_cast<unsigned>(params.tiles_n));
  const int group = static_cast<int>(column.whole);
  const int tile_n = static_cast<int>(column.rest);
  const int steps = steps_of(patches);
  if (steps > 0) {
    load_filters<config, layout>(params, group, tile_n, memory);
    write_places<threads>(params, memory + layout.places);
  }
  const PatchLoader<threads> loader(params, group);
  const WindowReader<config, layout> reader(params, memory);
  QUARRY_ROLLED
  for (int tile = static_cast<int>(part.whole); tile < patches.tiles; tile += patches.blocks) {
    const TileOrigin origin = tile_origin(patches, tile);
    if (steps > 0) loader.load(memory + layout.patch, origin);
    arch::block_barrier();
    gemm_sm80::Sums<config> sums;
    multiply_windows<config>(reader, steps, sums);
    arch::block_barrier();  // the epilogue uses the patch's memory
    write_window_sums<config, Epilogue>(params, origin, group, tile_n * config.tile.n, memory + layout.patch,
                                        sums);
  }
}

/// The same of wgrad: K tiles are tiles of outputs, cut into slices as a product's.
template <gemm_sm80::Config config, GradientMemory layout, class Epilogue>
QUARRY_DEVICE void differentiate_windows(const WindowConv2dParams& params) {
  const arch::SharedAddress memory = arch::shared_memory();
  const TileWork work = work_at(params, work_position(params, memory), config.tile.k);
  gemm_sm80::Sums<config> sums;
  if (work.k_tiles > 0) sum_gradients<config, layout>(params, work, memory, sums);
  gemm_sm80::write_sums<config, Epilogue, TileWriter>(params, work, memory, sums);
}

/// The epilogue of Iterator::window: of wgrad, outputs are a matrix.
template <Direction direction>
struct WindowEpilogue {
  using Type = WindowChain;
};
template <>
struct WindowEpilogue<Direction::wgrad> {
  using Type = StandardChain;
};

/// The kernel. (GCC 12 fails on types of a config that is computed from a parameter, so that is one, too.)
template <Config config, class Epilogue = ConvolutionChain<config.direction, is_interleaved(config.layout)>>
QUARRY_DEVICE void kernel(const Conv2dParams& params) {
  convolve<product(config), gathering(config), Epilogue>(params);
}

/// Likewise, of Strides::strided.
template <Config config, class Epilogue = ConvolutionChain<config.direction>>
QUARRY_DEVICE void kernel(const PhasedConv2dParams& params) {
  convolve_phase<product(config), gathering(config), Epilogue>(params);
}

/// Likewise, of Iterator::window.
template <Config config, class Epilogue = typename WindowEpilogue<config.direction>::Type>
QUARRY_DEVICE void kernel(const WindowConv2dParams& params) {
  if constexpr (config.direction == Direction::wgrad) {
    differentiate_windows<product(config), gradient_memory(config), Epilogue>(params);
  } else {
    convolve_windows<product(config), window_memory(config), Epilogue>(params);
  }
}

}  // namespace quarry::conv2d_sm80
