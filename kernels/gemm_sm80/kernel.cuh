/// GEMM with mma.sync: the main loop's sums leave through the staged epilogue.
#pragma once

#include "common/epilogue.cuh"
#include "common/operand_part.cuh"
#include "common/staged_tile.cuh"
#include "common/stream_writer.cuh"
#include "common/tile_scheduler.cuh"
#include "common/tile_writer.cuh"
#include "gemm/params.hpp"
#include "gemm_sm80/mainloop.cuh"
#include "gemm_sm80/scales.cuh"

namespace quarry::gemm_sm80 {

/// Puts one pass of sums into shared memory: 16 rows of each warp. Warps along K add theirs one after
/// another, which is always the same order.
template <Config config, class C, class BlockSums, class Staged>
QUARRY_DEVICE void stage_sums(const BlockSums& sums, const WarpPlace& place, int pass, const Staged& staged) {
  using S = Shape<config>;
  using Pair = arch::Vector<C, 2>;
  const int row = place.m * 16 + arch::lane_index() / 4;
  const int column = place.n * S::warp.n + arch::lane_index() % 4 * 2;
  QUARRY_UNROLL
  for (int turn = 0; turn < config.warps.k; ++turn) {
    if (turn > 0) arch::block_barrier();
    if (place.k != turn) continue;
    QUARRY_UNROLL
    for (int m = 0; m < S::blocks_m; ++m) {
      if (m != pass) continue;
      QUARRY_UNROLL
      for (int i = 0; i < 4 * S::blocks_n; ++i) {
        Pair pair = sums.pair(m, i);
        const arch::SharedAddress to = staged.at(row + i % 2 * 8, column + i / 2 * 8);
        if (turn > 0) {
          const auto earlier = arch::shared_load<Pair>(to);
          pair = {added(earlier.v[0], pair.v[0]), added(earlier.v[1], pair.v[1])};
        }
        arch::shared_store(to, pair);
      }
    }
  }
}

/// Writes a block's sums, of type C, through the epilogue. @param sums Sums or PromotedSums
template <Config config, class Epilogue, template <class, class, class> class Writer, class C, class Work,
          class BlockSums>
QUARRY_DEVICE void write_sums_of(const GemmParams& params, const Work& work, arch::SharedAddress memory,
                                 const BlockSums& sums) {
  using S = Shape<config>;
  constexpr EpilogueForm form = {.interleaved = is_interleaved(config.layouts.out), .kind = config.epilogue};
  using Finish = typename Epilogue::template For<C, Element<config.types.out>, form>;
  constexpr StagedRows rows = {staging_rows(config.tile, config.warps), 16, S::warp.m, 16, S::blocks_m};
  const Writer<C, Finish, Work> writer(params, work, config.tile);
  const WarpPlace place = warp_place<config>();
  write_tile<C, config.tile.n, rows, S::threads>(memory, writer, [&](int pass, const auto& staged) {
    stage_sums<config, C>(sums, place, pass, staged);
  });
}
template <Config config, class Epilogue, template <class, class, class> class Writer, class Work>
QUARRY_DEVICE void write_sums(const GemmParams& params, const Work& work, arch::SharedAddress memory,
                              const Sums<config>& sums) {
  write_sums_of<config, Epilogue, Writer, Compute<config.types.accumulator>>(params, work, memory, sums);
}

/// Computes one piece of work: multiplies, writes.
template <Config config, class Epilogue, template <class, class, class> class Writer, class Work>
QUARRY_DEVICE void compute(const GemmParams& params, const Work& work, arch::SharedAddress memory) {
  using S = Shape<config>;
  Sums<config> sums;
  if (work.k_tiles > 0) {
    const WarpReader<config> reader(warp_place<config>());
    const OperandLines a = operand_lines(part_of_a(params.a, work, config.tile), S::a);
    if constexpr (has_halves<Epilogue>()) {
      const GatedLines b = gated_lines(gated_part_of_b(params.b, work, config.tile), S::b);
      mainloop<config>(reader, typename S::SourceA(a), typename S::GatedSourceB(b), work.k_tiles, sums);
    } else {
      const OperandLines b = operand_lines(part_of_b(params.b, work, config.tile), S::b);
      mainloop<config>(reader, typename S::SourceA(a), typename S::SourceB(b), work.k_tiles, sums);
    }
  }
  write_sums<config, Epilogue, Writer>(params, work, memory, sums);
}

/// Computes one piece of work of operands with scales. Pairs repeat what others do: through a function of
/// both, instructions without pairs come in another order.
template <Config config, class Epilogue, class Work>
QUARRY_DEVICE void compute_scaled(const GemmParams& params, const GemmScaleParams& scales, const Work& work,
                                  arch::SharedAddress memory) {
  using S = Shape<config>;
  PromotedSums<config> promoted;
  if (work.k_tiles > 0) {
    const WarpReader<config> reader(warp_place<config>());
    const OperandLines a = operand_lines(part_of_a(params.a, work, config.tile), S::a);
    if constexpr (has_halves<Epilogue>()) {
      const GatedLines b = gated_lines(gated_part_of_b(params.b, work, config.tile), S::b);
      const Promoter<config, Work, true> promoter(scales, work);
      Sums<config> sums;
      mainloop<config>(reader, typename S::SourceA(a), typename S::GatedSourceB(b), work.k_tiles, sums,
                       [&](int k_tile) { promoter.multiplied(k_tile, sums, promoted); });
      promoter.finish(sums, promoted);
    } else {
      const OperandLines b = operand_lines(part_of_b(params.b, work, config.tile), S::b);
      const Promoter<config, Work> promoter(scales, work);
      Sums<config> sums;
      mainloop<config>(reader, typename S::SourceA(a), typename S::SourceB(b), work.k_tiles, sums,
                       [&](int k_tile) { promoter.multiplied(k_tile, sums, promoted); });
      promoter.finish(sums, promoted);
    }
  }
  write_sums_of<config, Epilogue, TileWriter, float>(params, work, memory, promoted);
}

/// The kernel: finds the block's work and computes it; without and with scales of operands.
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const GemmParams& params) {
  const arch::SharedAddress memory = arch::shared_memory();
  if constexpr (config.schedule == Schedule::stream_k) {
    StreamWalk walk(stream_shares(params, config.tile.k), stream_position(params, memory));
    QUARRY_ROLLED
    for (; walk.has_more(); walk.advance()) {
      compute<config, Epilogue, StreamWriter>(params, stream_work(params, walk.current(), config.tile.k),
                                              memory);
    }
  } else {
    const TileWork work = work_at(params, work_position(params, memory), config.tile.k);
    compute<config, Epilogue, TileWriter>(params, work, memory);
  }
}

template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ScaledGemmParams& params) {
  const GemmParams& gemm = params.gemm;
  const arch::SharedAddress memory = arch::shared_memory();
  const TileWork work = work_at(gemm, work_position(gemm, memory), config.tile.k);
  compute_scaled<config, Epilogue>(gemm, params.scales, work, memory);
}

}  // namespace quarry::gemm_sm80
