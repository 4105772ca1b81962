/// The side of the pipeline that copies, by the bulk tensor copy engine: one thread of the block.
#pragma once

#include "common/operand_part.cuh"
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

/// A source of boxes: an operand of one tile of the output, as its tensor map shows it.
template <OperandBox box>
class BoxSource {
 public:
  /// @param share the block's part of what `sharers` load for each other: blocks, as bits of their ranks
  QUARRY_DEVICE BoxSource(const TensorMap& map, const OperandPart& part, int share, unsigned sharers)
      : map_(map),
        first_(part.extent.base + part.extent.first),
        k_base_(part.k.base),
        batch_(part.matrix.batch_stride == 0 ? 0 : part.batch),
        share_(share),
        sharers_(sharers) {}

  /// Loads this block's part of the tile that begins at `k` of the problem, for all blocks that share it.
  QUARRY_DEVICE void load(arch::SharedAddress tile, arch::SharedAddress full, int k) const {
    QUARRY_UNROLL
    for (int panel = 0; panel < box.panels(); ++panel) {
      const BoxPlace place = box_place<box>(first_, k_base_ + k, panel, share_);
      const arch::SharedAddress to = tile + (panel * box.panel_bytes() + share_ * box.part_bytes());
      if constexpr (box.sharers == 1) {
        arch::tensor_load(to, map_, place.x, place.y, batch_, full);
      } else {
        arch::tensor_load_multicast(to, map_, place.x, place.y, batch_, full, sharers_);
      }
    }
  }

 private:
  const TensorMap& map_;
  int first_;
  int k_base_;
  int batch_;
  int share_;
  unsigned sharers_;
};

/// Fills stages with `k_tiles` K tiles of two operand sources, such as BoxSource.
template <Config config, class SourceA, class SourceB>
QUARRY_DEVICE void fill(Pipeline<config>& pipeline, const SourceA& source_a, const SourceB& source_b,
                        int first_k_tile, int k_tiles) {
  int k = first_k_tile * config.tile.k;
  QUARRY_ROLLED
  for (int tile = 0; tile < k_tiles; ++tile, k += config.tile.k) {
    pipeline.acquire();
    arch::mbarrier_arrive_expect(pipeline.full(), stage_bytes(config));
    source_a.load(pipeline.stage(), pipeline.full(), k);
    source_b.load(pipeline.stage() + box_a(config).bytes(), pipeline.full(), k);
    pipeline.advance();
  }
}

/// Fills stages for all tiles of the block; by one thread. In a cluster, returns only when all stages were
/// released: until then, other blocks signal to this one's barriers, which must not be gone.
template <Config config>
QUARRY_DEVICE void produce(const TensorGemmParams& params, arch::SharedAddress memory,
                           const ClusterPlace& place) {
  const GemmParams& gemm = params.gemm;
  Pipeline<config> pipeline(memory);
  QUARRY_ROLLED
  for (WorkList<config> list(gemm, place); list.has_more(); list.advance()) {
    const TileWork work = list.current();
    const BoxSource<box_a(config)> source_a(params.a, part_of_a(gemm.a, work, config.tile), place.n,
                                            sharers_of_a<config>(place));
    const BoxSource<box_b(config)> source_b(params.b, part_of_b(gemm.b, work, config.tile), place.m,
                                            sharers_of_b<config>(place));
    fill<config>(pipeline, source_a, source_b, work.first_k_tile, work.k_tiles);
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
