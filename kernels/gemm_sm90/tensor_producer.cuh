/// The side of the pipeline that copies, by the bulk tensor copy engine: one thread of the block.
#pragma once

#include "gemm/params.hpp"
#include "gemm_sm90/pipeline.cuh"
#include "gemm_sm90/work_list.cuh"

namespace quarry::gemm_sm90 {

/// Where boxes of a tile begin in memory: element of a line, and line.
struct BoxPlace {
  int x;
  int y;
};

/// @param first the tile's first row or column, @param k its first element of K, @param part the block's
/// among sharers
template <OperandBox box>
QUARRY_DEVICE BoxPlace box_place(int first, int k, int panel, int part) {
  const int along = panel * box.panel_line_elements();
  const int line = part * box.part_lines();
  return {(box.k_contiguous ? k : first) + along, (box.k_contiguous ? first : k) + line};
}

/// Loads this block's part of an operand's tile, for all blocks that share it.
template <OperandBox box>
QUARRY_DEVICE void load_part(const TensorMap& map, arch::SharedAddress tile, arch::SharedAddress full,
                             int first, int k, int batch, int part, unsigned sharers) {
  QUARRY_UNROLL
  for (int panel = 0; panel < box.panels(); ++panel) {
    const BoxPlace place = box_place<box>(first, k, panel, part);
    const arch::SharedAddress to = tile + (panel * box.panel_bytes() + part * box.part_bytes());
    if constexpr (box.sharers == 1) {
      arch::tensor_load(to, map, place.x, place.y, batch, full);
    } else {
      arch::tensor_load_multicast(to, map, place.x, place.y, batch, full, sharers);
    }
  }
}

/// Fills stages for all tiles of the block. In a cluster, returns only when all stages were released: until
/// then, other blocks signal to this one's barriers, which must not be gone.
template <Config config>
QUARRY_DEVICE void produce(const TensorGemmParams& params, arch::SharedAddress memory,
                           const ClusterPlace& place) {
  if (arch::thread_index() % warpgroup_threads != 0) return;
  constexpr OperandBox a = box_a(config);
  constexpr OperandBox b = box_b(config);
  const GemmParams& gemm = params.gemm;
  Pipeline<config> pipeline(memory);
  QUARRY_ROLLED
  for (WorkList<config> list(gemm, place); list.has_more(); list.advance()) {
    const TileWork work = list.current();
    const int batch_a = gemm.a.batch_stride == 0 ? 0 : work.a().batch;
    const int batch_b = gemm.b.batch_stride == 0 ? 0 : work.b().batch;
    const int row = work.a().row + work.tile_m * config.tile.m;
    const int column = work.b().column + work.tile_n * config.tile.n;
    int k = work.first_k_tile * config.tile.k;
    QUARRY_ROLLED
    for (int tile = 0; tile < work.k_tiles; ++tile, k += config.tile.k) {
      pipeline.acquire();
      arch::mbarrier_arrive_expect(pipeline.full(), stage_bytes(config));
      load_part<a>(params.a, pipeline.stage(), pipeline.full(), row, work.a().column + k, batch_a, place.n,
                   sharers_of_a<config>(place));
      load_part<b>(params.b, pipeline.stage() + a.bytes(), pipeline.full(), column, work.b().row + k, batch_b,
                   place.m, sharers_of_b<config>(place));
      pipeline.advance();
    }
  }
  if constexpr (config.cluster.m * config.cluster.n > 1) {
    QUARRY_ROLLED
    for (int stage = 0; stage < config.stages; ++stage) {
      pipeline.acquire();
      pipeline.advance();
    }
  }
}

}  // namespace quarry::gemm_sm90
