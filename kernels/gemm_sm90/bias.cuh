/// The bias, on its way ahead of the sums: the copying warpgroup loads a tile's part, as the values are,
/// while the tile is multiplied; those that multiply read it from shared memory when they have their sums.
#pragma once

#include "common/element.cuh"
#include "gemm_sm90/params.hpp"
#include "gemm_sm90/pipeline.cuh"
#include "gemm_sm90/sums.cuh"
#include "gemm_sm90/vector_ring.cuh"
#include "gemm_sm90/work_list.cuh"

namespace quarry::gemm_sm90 {

/// Whether launches of these parameters add one.
QUARRY_DEVICE bool adds_bias(const GemmParams& params) {
  return params.epilogue.bias != nullptr && params.mode != Mode::split_k_parallel;
}

/// Threads that load a bias, and threads that read it. Each arrives by itself: tools that watch a GPU do not
/// follow a warp barrier in front of one lane's arrival.
template <Config config>
constexpr int bias_writers() {
  return config.copy == CopyEngine::tma ? 32 : warpgroup_threads;
}
template <Config config>
constexpr int bias_readers() {
  return warpgroup_threads * (config.schedule == Schedule::ping_pong ? 1 : consumers(config));
}

/// The biases that wait in shared memory.
template <Config config>
using BiasRing = VectorRing<RingPlace{.at = biases_offset(config),
                                      .bytes = bias_bytes(config),
                                      .barriers = bias_barriers_offset(config),
                                      .sets = bias_sets(config),
                                      .writers = bias_writers<config>(),
                                      .readers = bias_readers<config>()}>;

/// Loads the bias of a tile. @param thread of `threads` that do so together, whole warps
template <Config config, class Work>
QUARRY_DEVICE void load_bias(BiasRing<config>& ring, const GemmParams& params, const Work& work, int thread,
                             int threads) {
  using Out = Element<config.types.out>;
  const bool by_column = params.epilogue.bias_axis == BiasAxis::column;
  const int count = by_column ? config.tile.n : config.tile.m;
  const int first = (by_column ? work.tile_n : work.tile_m) * count;
  const int base = by_column ? work.out().column : work.out().row;
  const int extent = by_column ? work.n() : work.m();
  ring.acquire();
  QUARRY_ROLLED
  for (int i = thread; i < count; i += threads) {
    ValueType<config> value = 0;
    if (first + i < extent) {
      value = to_compute<ValueType<config>>(
          arch::global_load<Out>(static_cast<const Out*>(params.epilogue.bias) + (base + first + i)));
    }
    arch::shared_store(ring.at(i), value);
  }
  ring.commit();
  ring.advance();
}

/// The vectors that are loaded ahead for the standard chain.
template <Config config>
struct BiasVectors {
  /// Whether launches of these parameters have any.
  template <class Params>
  QUARRY_DEVICE static bool has_any(const Params& params) {
    return adds_bias(params.gemm);
  }
  template <class Params, class Work>
  QUARRY_DEVICE static void load(BiasRing<config>& ring, const Params& params, const Work& work, int thread,
                                 int threads) {
    load_bias<config>(ring, params.gemm, work, thread, threads);
  }
};

/// The vectors that are loaded ahead for an epilogue.
template <Config config, class Epilogue>
struct VectorsOf {
  using Type = BiasVectors<config>;
};

/// Loads the vectors of all tiles of the block; by one warp.
template <Config config, class Vectors, class Params>
QUARRY_DEVICE void produce_vectors(const Params& params, arch::SharedAddress memory,
                                   const ClusterPlace& place) {
  if (!Vectors::has_any(params)) return;
  BiasRing<config> ring(memory);
  QUARRY_ROLLED
  for (typename WorkListOf<config, Params>::Type list(params, place); list.has_more(); list.advance()) {
    Vectors::load(ring, params, list.current(), arch::lane_index(), 32);
  }
}

}  // namespace quarry::gemm_sm90
