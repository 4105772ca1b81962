/// GEMM with wgmma: one warpgroup copies operands through a pipeline of stages in shared memory, the others
/// multiply them from there, and what becomes of the sums leaves as boxes.
#pragma once

#include "gemm_sm90/early_params.cuh"
#include "gemm_sm90/k_groups.cuh"
#include "gemm_sm90/mainloop.cuh"
#include "gemm_sm90/promotion.cuh"
#include "gemm_sm90/scales.cuh"
#include "gemm_sm90/tensor_producer.cuh"
#include "gemm_sm90/thread_producer.cuh"
#include "gemm_sm90/tile_store_unrolled.cuh"
#include "gemm_sm90/turns.cuh"
#include "gemm_sm90/weights.cuh"

namespace quarry::gemm_sm90 {

/// What the block needs before its warpgroups part.
/// @tparam Vectors those that are loaded ahead
template <Config config, class Vectors, class Params>
QUARRY_DEVICE void set_up(const Params& params, arch::SharedAddress memory) {
  load_early(params);
  if (arch::thread_index() == 32) {
    if (config.copy == CopyEngine::tma) {
      arch::prefetch_tensor_map(params.a);
      arch::prefetch_tensor_map(params.b);
    }
    if (!has_scattered_rows<WorkOfParams<config, Params>> && params.stores_boxes)
      arch::prefetch_tensor_map(params.out);
    if (params.fetched != Fetched::none) arch::prefetch_tensor_map(params.source);
  }
  if (arch::thread_index() == 0) {
    Pipeline<config>::init(memory);
    BesideCopies<config, Params>::init(memory);
    HandingOf<config, Params>::init(memory);
    if (Vectors::has_any(params)) BiasRing<config>::init(memory);
    if constexpr (config.scales == ScaleSupport::vector_scales) ScaleRing<config>::init(memory);
    if (params.fetched != Fetched::none) BoxRing<config>::init(memory);
    arch::mbarrier_init_fence();
  }
  if constexpr (config.cluster.m * config.cluster.n == 1) {
    arch::block_barrier();
  } else {
    arch::cluster_arrive_relaxed();  // the fence has made the barriers known, and there is nothing else to
                                     // tell
    arch::cluster_wait();
  }
}

/// Whether the blocks of a cluster share a tile's K: they add up at the end.
template <Config config>
QUARRY_DEVICE bool shares_k(const GemmParams& params) {
  return adds_up_in_cluster(config) && params.mode == Mode::split_k_cluster;
}

/// All blocks of the cluster have left their sums.
QUARRY_DEVICE void wait_for_sums() {
  arch::cluster_arrive();
  arch::cluster_wait();
}

/// All blocks of the cluster have read them.
QUARRY_DEVICE void wait_for_readers() {
  arch::cluster_arrive_relaxed();
  arch::cluster_wait();
}

/// The warpgroup that copies. @param scales null in kernels that take none
/// @tparam halves of gated pairs that lie in halves
template <Config config, class Sources, class Vectors, bool halves, class Params>
QUARRY_DEVICE void producer(const Params& params, const GemmScaleParams* scales, arch::SharedAddress memory,
                            const ClusterPlace& place) {
  if constexpr (moves_registers(config)) arch::give_registers<producer_registers>();
  if constexpr (config.copy == CopyEngine::tma) {
    constexpr bool by_warp = WorkListOf<config, Params>::Type::needs_warp;
    if (warp_of_group() == 0 && (by_warp || arch::lane_index() == 0))
      produce<config, Sources>(params, memory, place);
    if (warp_of_group() == 1) produce_vectors<config, Vectors>(params, memory, place);
    if constexpr (promotes(config)) {
      if (warp_of_group() == 2) produce_block_scales<config, halves>(params, *scales, memory, place);
    } else if constexpr (scale_sets(config) > 0) {
      if (warp_of_group() == 2) produce_vector_scales<config>(params, *scales, memory, place);
    }
    if (warp_of_group() == 3) BesideCopies<config, Params>::run(params, memory, place);
  } else {
    produce_by_threads<config, Vectors>(params, memory, place);
  }
  arch::warp_barrier();  // the lanes that had nothing to do catch up
  if (shares_k<config>(params.gemm)) {
    wait_for_sums();
    wait_for_readers();
  }
}

/// Whether a warpgroup of a cooperative block has no row of the problem in a tile. Only groups ask: the
/// problems of other launches have one size, and few of their tiles end early.
template <Config config, class Work>
QUARRY_DEVICE bool has_no_rows(const Work& work, int group) {
  if constexpr (Work::has_neighbours && config.schedule == Schedule::cooperative) {
    return work.m() - work.tile_m * config.tile.m <= group * (blocks_m(config) * instruction_m);
  } else {
    return false;
  }
}

/// Goes through the stages of a tile without a product, so that the other warpgroup multiplies alone.
template <Config config>
QUARRY_DEVICE void pass_stages(Pipeline<config>& pipeline, int k_tiles, const ClusterPlace& place) {
  QUARRY_ROLLED
  for (int tile = 0; tile < k_tiles; ++tile, pipeline.advance()) {
    pipeline.wait();
    arch::warp_barrier();  // all lanes have seen it, before it may be filled again
    release<config>(pipeline.empty(), place);
  }
}

/// Multiplies a tile: what the epilogue reads of its sums. @tparam halves as of producer
template <Config config, bool halves, class Work, class AllStarted>
QUARRY_DEVICE void multiply_tile(FinishedSums<config>& sums, Pipeline<config>& pipeline, const Work& work,
                                 int group, const ClusterPlace& place, TileScales<config>& scales,
                                 const AllStarted& all_started) {
  if (has_no_rows<config>(work, group)) {
    sums = {};
    pass_stages(pipeline, work.k_tiles, place);
    return;
  }
  if constexpr (promotes(config)) {
    if (!halves && scales.strips_share()) {
      promoting_mainloop<config, false>(sums, pipeline, work, group, place, all_started);
    } else {
      promoting_mainloop<config, true>(sums, pipeline, work, group, place, all_started);
    }
  } else if constexpr (has_weights(config)) {
    weight_mainloop<config>(sums, pipeline, work, group, place, scales.params());
    all_started();
  } else if constexpr (!takes_scales(config)) {
    mainloop<config>(sums, pipeline, work.k_tiles, group, place, all_started);
  } else if constexpr (config.types.accumulator == DType::f32) {
    mainloop<config>(sums, pipeline, work.k_tiles, group, place, all_started);
    scales.scale(sums, sums, group * blocks_m(config) * instruction_m);
  } else {
    Sums<config> unscaled;
    mainloop<config>(unscaled, pipeline, work.k_tiles, group, place, all_started);
    scales.scale(sums, unscaled, group * blocks_m(config) * instruction_m);
  }
}

/// A warpgroup that multiplies. @param group its number among those that share a K tile
/// @param given null in kernels that take no scales
template <Config config, class Epilogue, class Params>
QUARRY_DEVICE void consumer(const Params& params, const GemmScaleParams* given, arch::SharedAddress memory,
                            const ClusterPlace& place, int group) {
  if constexpr (moves_registers(config)) arch::take_registers<consumer_registers(config)>();
  using List = typename HandingOf<config, Params>::List;
  constexpr bool alone = config.schedule == Schedule::ping_pong;  // with a tile
  const GemmParams& gemm = params.gemm;
  const bool finishes = k_group<config>() == 0;  // else it hands its sums over
  const int group_in_tile = alone ? 0 : group;
  const int first_row = group_in_tile * blocks_m(config) * instruction_m;
  typename TileStoreOf<config, Epilogue, typename List::Work>::Type output(params, memory, group, first_row);

  // A count, from which each tile's walk around the ring starts again: while the sums are finished, only this
  // is kept.
  unsigned stages_done = 0;
  List list(params, place);
  TileScales<config> scales(given, memory);
  // A barrier's parity tells only the last two phases apart: who waits for a stage must not be more than a
  // round ahead. So the warpgroups of a ping_pong block multiply in turns, a tile each.
  Turns turns(group);
  const auto skip = [&] {  // a tile of the other warpgroup
    if (!list.has_more()) return;
    stages_done += static_cast<unsigned>(list.current().k_tiles);
    list.advance();
    output.skip();
    scales.skip();
  };
  if (alone && group == 1) skip();
  QUARRY_ROLLED
  while (list.has_more()) {
    const typename List::Work work = list.current();
    FinishedSums<config> sums;
    list.advance();
    if (finishes) output.start(work);
    if (alone) turns.wait();
    Pipeline<config> pipeline(memory, stages_done);
    multiply_tile<config, has_halves<Epilogue>()>(sums, pipeline, work, group_in_tile, place, scales, [&] {
      if (alone && list.has_more()) turns.pass_on();
    });
    stages_done += static_cast<unsigned>(work.k_tiles);
    if constexpr (k_groups(config) > 1) {
      gather_sums<config>(sums, memory);
      if (!finishes) break;
    }
    if constexpr (adds_up_in_cluster(config)) {
      if (shares_k<config>(gemm)) {
        leave_sums<config>(sums, memory);
        wait_for_sums();
      }
    }
    output.store(sums, work, stages_done, place);
    stages_done += static_cast<unsigned>(output.stages());
    if (alone) skip();
  }
  if (finishes) {
    output.finish();
  } else if (shares_k<config>(gemm)) {
    wait_for_sums();
  }
  if (shares_k<config>(gemm)) wait_for_readers();
}

/// Sets up, then each warpgroup plays its part. @param scales null in kernels that take none
/// @tparam Sources what the copy engine brings, where it copies
template <Config config, class Epilogue, class Sources = MatrixSources<config>, class Params>
QUARRY_DEVICE void run(const Params& params, const GemmScaleParams* scales) {
  const arch::SharedAddress memory = arch::shared_memory();
  const ClusterPlace place = cluster_place<config>();
  using Vectors = typename VectorsOf<config, Epilogue>::Type;
  set_up<config, Vectors>(params, memory);
  arch::wait_for_earlier_kernels();
  arch::let_later_kernels_start();

  const int group = warpgroup_index() - 1 - k_group<config>() * consumers(config);
  if (group < 0) {
    producer<config, Sources, Vectors, has_halves<Epilogue>()>(params, scales, memory, place);
  } else {
    consumer<config, Epilogue>(params, scales, memory, place, group);
  }
}

/// The kernel, without and with scales of operands, and with zero points.
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const TensorGemmParams& params) {
  run<config, Epilogue, MatrixSources<config, has_halves<Epilogue>()>>(params, nullptr);
}
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ScaledTensorGemmParams& params) {
  run<config, Epilogue>(params.tensor, &params.scales);
}
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ZeroTensorGemmParams& params) {
  run<config, Epilogue>(params.tensor, &params.scales);
}

}  // namespace quarry::gemm_sm90
