/// What is done beside copies where groups have not all of K, and where rows outside of groups become zero:
/// by a warp of those that copy, while others multiply.
///
/// The stages where a group begins and ends along K also hold what is beside it: values of other groups,
/// which may be NaN. The copies of such a stage arrive at a barrier of its own. When they have landed, the
/// warp puts zeros there in both operands, and says that the stage is full.
#pragma once

#include "common/element.cuh"
#include "common/matrix_view.cuh"
#include "gemm_sm90/tensor_producer.cuh"
#include "grouped_gemm_sm90/config.hpp"
#include "grouped_gemm_sm90/group_list.cuh"

namespace quarry::grouped_gemm_sm90 {

/// Positions of K in a stage that are the group's: [first, end).
struct KRange {
  int first;
  int end;
};

/// Of K tile `tile` of a work.
template <gemm_sm90::Config config>
QUARRY_DEVICE KRange range_of(const TensorWork& work, int tile) {
  const int left = work.k() - tile * config.tile.k;
  return {tile == 0 ? work.head : 0, left < config.tile.k ? left : config.tile.k};
}

/// Whether a stage also holds elements of another group. What lies behind the end of the operands is zero
/// anyway.
template <gemm_sm90::Config config>
QUARRY_DEVICE bool is_cut(const TensorWork& work, int tile) {
  if (work.params.groups.form != GroupForm::ragged_k) return false;
  const KRange range = range_of<config>(work, tile);
  return range.first > 0 || range.end < config.tile.k;
}

/// The elements [first, end) of a chunk of 16 bytes, and zeros.
QUARRY_DEVICE arch::Vector<unsigned, 4> kept_elements(arch::Vector<unsigned, 4> chunk, KRange kept,
                                                      int element_bytes) {
  const auto bytes_before = [&](int element, int word) {
    const int bytes = element * element_bytes - 4 * word;
    return bytes < 0 ? 0 : bytes > 4 ? 4 : bytes;
  };
  // Of 64 bits, so that nothing is compared with 4: ptxas 13.0 takes that from the minimum's predicate, which
  // is also true of 0 to 3.
  const auto low = [](int bytes) { return static_cast<unsigned>((1ULL << 8 * bytes) - 1); };
  QUARRY_UNROLL
  for (int word = 0; word < 4; ++word)
    chunk.v[word] &= low(bytes_before(kept.end, word)) & ~low(bytes_before(kept.first, word));
  return chunk;
}

/// Puts zeros beside the positions of K that are kept of an operand's tile; by a warp.
template <gemm_sm90::OperandBox box>
QUARRY_DEVICE void clear_beside(arch::SharedAddress tile, KRange kept) {
  using Chunk = arch::Vector<unsigned, 4>;
  constexpr int elements = 16 / box.element_bytes;           // of a chunk
  constexpr int panel_chunks = box.panel_line_bytes() / 16;  // of a line
  constexpr int line_chunks = panel_chunks * box.panels();
  constexpr int lines = box.lines();
  if constexpr (box.k_contiguous) {
    QUARRY_ROLLED
    for (int chunk = 0; chunk < line_chunks; ++chunk) {
      const KRange in_chunk = {kept.first - chunk * elements, kept.end - chunk * elements};
      if (in_chunk.first <= 0 && in_chunk.end >= elements) continue;
      QUARRY_ROLLED
      for (int line = arch::lane_index(); line < lines; line += 32) {
        const int byte = line * box.panel_line_bytes() + chunk % panel_chunks * 16;
        const arch::SharedAddress at =
            tile + (chunk / panel_chunks * box.panel_bytes() + box.permutation()(byte));
        arch::shared_store(at, kept_elements(arch::shared_load<Chunk>(at), in_chunk, box.element_bytes));
      }
    }
  } else {
    QUARRY_ROLLED
    for (int line = 0; line < lines; ++line) {
      if (line >= kept.first && line < kept.end) continue;
      QUARRY_ROLLED
      for (int chunk = arch::lane_index(); chunk < line_chunks; chunk += 32) {
        const int panel = chunk / panel_chunks * box.panel_bytes();
        arch::shared_store(tile + (panel + line * box.panel_line_bytes() + chunk % panel_chunks * 16),
                           Chunk{});
      }
    }
  }
}

/// Clears cut stages of all works of the block; by one warp.
template <gemm_sm90::Config config>
QUARRY_DEVICE void clear_cut_stages(const Params& params, arch::SharedAddress memory,
                                    const gemm_sm90::ClusterPlace& place) {
  unsigned done = 0;      // stages that were filled
  unsigned parities = 0;  // of the stages' barriers for cut ones
  QUARRY_ROLLED
  for (GroupList<config> list(params, place); list.has_more(); list.advance()) {
    const TensorWork work = list.current();
    const int last = work.k_tiles - 1;
    QUARRY_ROLLED
    for (int tile = 0; tile <= last; tile += tile < last ? last : 1) {
      if (!is_cut<config>(work, tile)) continue;
      const unsigned turn = done + static_cast<unsigned>(tile);
      const gemm_sm90::Pipeline<config> pipeline(memory, turn);
      const unsigned stage = turn % config.stages;
      arch::mbarrier_wait(memory + (cut_barriers_offset(config) + 8 * static_cast<int>(stage)),
                          static_cast<int>(parities >> stage & 1));
      parities ^= 1U << stage;
      const KRange range = range_of<config>(work, tile);
      clear_beside<gemm_sm90::box_a(config)>(pipeline.stage(), range);
      clear_beside<gemm_sm90::box_b(config)>(pipeline.stage() + gemm_sm90::box_a(config).bytes(), range);
      arch::async_proxy_fence();
      arch::warp_barrier();
      if (arch::lane_index() == 0) arch::mbarrier_arrive(pipeline.full());
    }
    done += static_cast<unsigned>(work.k_tiles);
  }
}

/// Writes zeros to the rows of a matrix from `begin` on, of which each block has some; by one warp.
/// @tparam halves 2: the output has half of B's columns
template <class Out, int halves>
QUARRY_DEVICE void clear_rows(const GemmParams& params, int batch, int begin, int end) {
  const MatrixView<Out> out = matrix_of<Out>(params.out, batch);
  QUARRY_ROLLED
  for (long long row = begin + static_cast<long long>(arch::block_index()); row < end;
       row += arch::grid_blocks()) {
    QUARRY_ROLLED
    for (int column = 4 * arch::lane_index(); column < params.n / halves; column += 128) {
      const int left = params.n / halves - column;
      out.store(row, column, left < 4 ? left : 4, {});
    }
  }
}

/// Writes zeros to the rows outside of all groups; by one warp of each block.
template <class Out, int halves = 1>
QUARRY_DEVICE void clear_outside(const Params& params) {
  const GroupParams& groups = params.groups;
  if (groups.form == GroupForm::masked) {
    QUARRY_ROLLED
    for (int group = 0; group < groups.groups; ++group) {
      const int count = clamped_end(groups, arch::global_load<int>(groups.sizes + group), 0);
      clear_rows<Out, halves>(params.gemm, group, count, groups.room);
    }
  } else {
    LaneGroups last = {};
    QUARRY_ROLLED
    for (int group = 0; group < groups.groups; group += 32)
      last = last_of(read_groups(groups, group, last, 0, 0));
    clear_rows<Out, halves>(params.gemm, 0, last.first + last.count, groups.room);
  }
}

}  // namespace quarry::grouped_gemm_sm90

namespace quarry::gemm_sm90 {

template <Config config>
struct BesideCopies<config, GroupedTensorGemmParams> {
  QUARRY_DEVICE static void init(arch::SharedAddress memory) {
    QUARRY_UNROLL
    for (int stage = 0; stage < config.stages; ++stage)
      arch::mbarrier_init(memory + (grouped_gemm_sm90::cut_barriers_offset(config) + 8 * stage), 1);
    if constexpr (box_a(config).k_contiguous) {  // sources.cuh leaves lines out
      QUARRY_UNROLL
      for (int stage = 0; stage < config.stages; ++stage)
        arch::read_unwritten(memory + stage * stage_bytes(config), box_a(config).bytes());
    }
  }

  QUARRY_DEVICE static arch::SharedAddress landing(const Pipeline<config>& pipeline,
                                                   const grouped_gemm_sm90::TensorWork& work, int tile) {
    constexpr int from_full = grouped_gemm_sm90::cut_barriers_offset(config) - barriers_offset(config);
    return pipeline.full() + (grouped_gemm_sm90::is_cut<config>(work, tile) ? from_full : 0);
  }

  QUARRY_DEVICE static void run(const GroupedTensorGemmParams& params, arch::SharedAddress memory,
                                const ClusterPlace& place) {
    if (params.groups.form == GroupForm::ragged_k) {
      grouped_gemm_sm90::clear_cut_stages<config>(params, memory, place);
    } else if (params.groups.zero_outside) {
      grouped_gemm_sm90::clear_outside<Element<config.types.out>>(params);
    }
  }
};

}  // namespace quarry::gemm_sm90
