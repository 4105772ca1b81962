/// The side of the pipeline that copies, by the bulk tensor copy engine: one thread of the block.
#pragma once

#include "common/operand_part.cuh"
#include "gemm_sm90/handed_list.cuh"
#include "gemm_sm90/params.hpp"
#include "gemm_sm90/pipeline.cuh"
#include "gemm_sm90/source_stages.cuh"
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

/// The batch entry of an operand's tensor map, which has one entry where all share a matrix.
QUARRY_DEVICE int entry_of_map(const OperandPart& part) {
  return part.matrix.batch_stride == 0 ? 0 : part.batch;
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
        batch_(entry_of_map(part)),
        share_(share),
        sharers_(sharers) {}

  /// Bytes of a tile, whichever blocks load them.
  QUARRY_DEVICE static constexpr int bytes() { return box.bytes(); }

  /// Loads this block's part of the tile that begins at `k` of the problem, for all blocks that share it.
  /// Where they take turns, all of it or nothing.
  QUARRY_DEVICE void load(arch::SharedAddress tile, arch::SharedAddress full, int k) const {
    if constexpr (box.in_turns()) {
      if (k / box.k % box.sharers != share_) return;
    }
    const int part = box.in_turns() ? 0 : share_;
    QUARRY_UNROLL
    for (int panel = 0; panel < box.panels(); ++panel) {
      const BoxPlace place = box_place<box>(first_, k_base_ + k, panel, part);
      const arch::SharedAddress to = tile + (panel * box.panel_bytes() + part * box.part_bytes());
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

/// A source of the columns of gated pairs: half a tile, and the half that lies half of all columns further
/// on.
template <OperandBox box>
class GatedBoxSource {
  static constexpr int half = box.extent / 2;
  /// Copies of a part of a panel, each of one half.
  static constexpr int copies = box.k_contiguous && box.part_lines() > half ? 2 : 1;
  static constexpr int copy_lines = box.part_lines() / copies;

 public:
  QUARRY_DEVICE GatedBoxSource(const TensorMap& map, const OperandPart& part, int share, unsigned sharers)
      : map_(map),
        first_(part.extent.base + part.extent.first),
        distance_(part.extent.end),
        k_base_(part.k.base),
        batch_(entry_of_map(part)),
        share_(share),
        sharers_(sharers) {}

  /// As BoxSource's.
  QUARRY_DEVICE static constexpr int bytes() { return box.bytes(); }
  QUARRY_DEVICE void load(arch::SharedAddress tile, arch::SharedAddress full, int k) const {
    QUARRY_UNROLL
    for (int panel = 0; panel < box.panels(); ++panel) {
      QUARRY_UNROLL
      for (int copy = 0; copy < copies; ++copy) {
        const int line = share_ * box.part_lines() + copy * copy_lines;
        const int along = panel * box.panel_line_elements();
        const int x = box.k_contiguous ? k_base_ + k + along : column(along);
        const int y = box.k_contiguous ? column(line) : k_base_ + k + line;
        const arch::SharedAddress to = tile + (panel * box.panel_bytes() + line * box.panel_line_bytes());
        if constexpr (box.sharers == 1) {
          arch::tensor_load(to, map_, x, y, batch_, full);
        } else {
          arch::tensor_load_multicast(to, map_, x, y, batch_, full, sharers_);
        }
      }
    }
  }

 private:
  /// Where a column of the tile lies in memory.
  QUARRY_DEVICE int column(int of_tile) const {
    return first_ + (of_tile >= half ? distance_ + of_tile - half : of_tile);
  }

  const TensorMap& map_;
  int first_;
  int distance_;
  int k_base_;
  int batch_;
  int share_;
  unsigned sharers_;
};

/// A source of weights: its box counts bytes. K begins at the matrix's first column.
template <OperandBox box, int bits>
class WeightSource : BoxSource<box> {
 public:
  using BoxSource<box>::BoxSource;
  using BoxSource<box>::bytes;

  /// As BoxSource's.
  QUARRY_DEVICE void load(arch::SharedAddress tile, arch::SharedAddress full, int k) const {
    BoxSource<box>::load(tile, full, k * bits / 8);
  }
};

/// The source of A.
template <Config config, bool are_weights = has_weights(config)>
struct SourceOfA {
  using Type = BoxSource<box_a(config)>;
};
template <Config config>
struct SourceOfA<config, true> {
  using Type = WeightSource<box_a(config), bits_of(config.types.a)>;
};

/// The sources of a tile. @tparam SourceA, SourceB such as BoxSource
template <Config config, class SourceA, class SourceB>
struct TileSources {
  SourceA a;
  SourceB b;

  /// Bytes that are loaded for a K tile.
  QUARRY_DEVICE int bytes() const { return a.bytes() + b.bytes(); }

  /// Loads both operands' tiles that begin at `k` of the problem. Tiles of K follow one another. @param
  /// landed the barrier that the copies arrive at
  QUARRY_DEVICE void load(arch::SharedAddress stage, arch::SharedAddress landed, int k) const {
    a.load(stage, landed, k);
    b.load(stage + box_a(config).bytes(), landed, k);
  }
};

/// What copies B, and which part of it a tile needs. @tparam halves of gated pairs that lie in halves of the
/// problem's columns
template <OperandBox box, bool halves>
struct PartOfB {
  using Source = BoxSource<box>;

  template <class Work>
  QUARRY_DEVICE static OperandPart of(const MatrixParams& b, const Work& work, Tile tile) {
    return part_of_b(b, work, tile);
  }
};
template <OperandBox box>
struct PartOfB<box, true> {
  using Source = GatedBoxSource<box>;

  template <class Work>
  QUARRY_DEVICE static OperandPart of(const MatrixParams& b, const Work& work, Tile tile) {
    return gated_part_of_b(b, work, tile);
  }
};

/// The sources of a tile: both operands are matrices. @tparam halves as of PartOfB
template <Config config, bool halves = false>
struct MatrixSources
    : TileSources<config, typename SourceOfA<config>::Type, typename PartOfB<box_b(config), halves>::Source> {
  using SourceA = typename SourceOfA<config>::Type;
  using OfB = PartOfB<box_b(config), halves>;

  template <class Params, class Work>
  QUARRY_DEVICE MatrixSources(const Params& params, const Work& work, const ClusterPlace& place)
      : TileSources<config, SourceA, typename OfB::Source>{
            {params.a, part_of_a(params.gemm.a, work, config.tile), place.n, sharers_of_a<config>(place)},
            {params.b, OfB::of(params.gemm.b, work, config.tile), place.m, sharers_of_b<config>(place)}} {}
};

/// The list that is walked by those which copy: WorkListOf the parameters, but where the sources have one of
/// their own, of the same kind of work.
template <Config config, class Params, class Sources>
struct WalkedList {
  using Type = typename WorkListOf<config, Params>::Type;
};
template <Config config, class Params, class Sources>
requires requires { typename Sources::List; }
struct WalkedList<config, Params, Sources> {
  using Type = typename Sources::List;
};

/// What is to be done beside copies: nothing, but in a family whose work needs more, by its parameters.
template <Config config, class Params>
struct BesideCopies {
  /// Makes barriers of its own; by one thread.
  QUARRY_DEVICE static void init(arch::SharedAddress /*memory*/) {}

  /// The barrier that copies of K tile `tile` of a work arrive at: once they have landed, the stage is full.
  template <class Work>
  QUARRY_DEVICE static arch::SharedAddress landing(const Pipeline<config>& pipeline, const Work& /*work*/,
                                                   int /*tile*/) {
    return pipeline.full();
  }

  /// What the last warp of those that copy does.
  QUARRY_DEVICE static void run(const Params& /*params*/, arch::SharedAddress /*memory*/,
                                const ClusterPlace& /*place*/) {}
};

/// Fills stages with the K tiles of sources such as MatrixSources. @tparam Beside as BesideCopies
template <Config config, class Beside, class Work, class Sources>
QUARRY_DEVICE void fill(Pipeline<config>& pipeline, const Work& work, Sources& sources) {
  int k = work.first_k_tile * config.tile.k;
  QUARRY_ROLLED
  for (int tile = 0; tile < work.k_tiles; ++tile, k += config.tile.k) {
    pipeline.acquire();
    const arch::SharedAddress landed = Beside::landing(pipeline, work, tile);
    arch::mbarrier_arrive_expect(landed, sources.bytes());
    sources.load(pipeline.stage(), landed, k);
    pipeline.advance();
  }
}

/// Fills stages for all tiles of the block; by one thread, or where the list needs a warp by that, of which
/// one lane copies. In a cluster, returns only when all stages were released: until then, other blocks signal
/// to this one's barriers, which must not be gone. @tparam Sources such as MatrixSources
template <Config config, class Sources, class Params>
QUARRY_DEVICE void produce(const Params& params, arch::SharedAddress memory, const ClusterPlace& place) {
  using List = typename WalkedList<config, Params, Sources>::Type;
  constexpr bool has_stages = has_source_stages(config) && may_fetch_boxes<typename List::Work>;
  const bool copies = !List::needs_warp || arch::lane_index() == 0;
  const bool fetches = has_stages && fetches_source<config>(params);
  Pipeline<config> pipeline(memory);
  HandingOf<config, Params> handing(memory);
  QUARRY_ROLLED
  for (List list(params, place); list.has_more(); list.advance()) {
    const typename List::Work work = list.current();
    if (!copies) continue;
    handing.put(work);
    Sources sources(params, work, place);
    fill<config, BesideCopies<config, Params>>(pipeline, work, sources);
    if constexpr (has_stages) {
      if (fetches) fill_source(pipeline, params, work);
    }
  }
  if (copies) handing.end();
  if constexpr (config.cluster.m * config.cluster.n > 1) {
    if (!copies) return;
    QUARRY_ROLLED
    for (int stage = 0; stage < config.stages; ++stage) {
      pipeline.acquire();
      pipeline.advance();
    }
  }
}

}  // namespace quarry::gemm_sm90
