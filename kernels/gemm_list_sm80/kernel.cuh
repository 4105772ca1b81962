/// A list of GEMMs with mma.sync: blocks walk over the tiles of all problems, and compute each as gemm_sm80
/// does.
#pragma once

#include "gemm_list/pairs.cuh"
#include "gemm_list/schedule.cuh"
#include "gemm_list_sm80/config.hpp"
#include "gemm_sm80/kernel.cuh"

namespace quarry::gemm_list_sm80 {

/// Multiplies and writes a tile of a problem. @tparam Params GemmListParams, with an expression or without
template <gemm_sm80::Config config, class Epilogue, class Params>
QUARRY_DEVICE void compute(const Params& params, const ListWork& work, arch::SharedAddress memory) {
  using S = gemm_sm80::Shape<config>;
  gemm_sm80::Sums<config> sums;
  if (work.k_tiles > 0) {
    const gemm_sm80::WarpReader<config> reader(gemm_sm80::warp_place<config>());
    const ListOperands operands = operands_of(params, work, config.alignment);
    const OperandLines a = operand_lines(part_of_a(operands.a, work, config.tile), S::a);
    if constexpr (has_halves<Epilogue>()) {
      const GatedLines b = gated_lines(gated_part_of_b(operands.b, work, config.tile), S::b);
      gemm_sm80::mainloop<config>(reader, typename S::SourceA(a), typename S::GatedSourceB(b), work.k_tiles,
                                  sums);
    } else {
      const OperandLines b = operand_lines(part_of_b(operands.b, work, config.tile), S::b);
      gemm_sm80::mainloop<config>(reader, typename S::SourceA(a), typename S::SourceB(b), work.k_tiles, sums);
    }
  }
  gemm_sm80::write_sums<config, Epilogue, TileWriter>(outputs_of(params, output_entry<Epilogue>(work)), work,
                                                      memory, sums);
}

/// The same with scales of operands, which are a batch of them or the same for all problems.
template <gemm_sm80::Config config, class Epilogue>
QUARRY_DEVICE void compute(const ScaledGemmListParams& params, const ListWork& work,
                           arch::SharedAddress memory) {
  using S = gemm_sm80::Shape<config>;
  gemm_sm80::PromotedSums<config> promoted;
  if (work.k_tiles > 0) {
    const gemm_sm80::WarpReader<config> reader(gemm_sm80::warp_place<config>());
    const ListOperands operands = operands_of(params, work, config.alignment);
    const OperandLines a = operand_lines(part_of_a(operands.a, work, config.tile), S::a);
    const OperandLines b = operand_lines(part_of_b(operands.b, work, config.tile), S::b);
    const gemm_sm80::Promoter<config, ListWork> promoter(params.scales, work);
    gemm_sm80::Sums<config> sums;
    gemm_sm80::mainloop<config>(reader, typename S::SourceA(a), typename S::SourceB(b), work.k_tiles, sums,
                                [&](int k_tile) { promoter.multiplied(k_tile, sums, promoted); });
    promoter.finish(sums, promoted);
  }
  gemm_sm80::write_sums_of<config, Epilogue, TileWriter, float>(outputs_of(params, work), work, memory,
                                                                promoted);
}

/// Computes the block's tiles.
template <Config config, class Epilogue, class Params>
QUARRY_DEVICE void compute_list(const Params& params) {
  const arch::SharedAddress memory = arch::shared_memory();
  constexpr int unit = list_unit<Epilogue>(config.layouts.b, config.alignment.b);
  for_each_list_tile<config.tile, unit>(
      params, [&](const ListWork& work) { compute<tile_config(config), Epilogue>(params, work, memory); });
}

/// The kernel, without and with scales of operands.
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const GemmListParams& params) {
  compute_list<config, Epilogue>(params);
}
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ScaledGemmListParams& params) {
  compute_list<config, Epilogue>(params);
}

}  // namespace quarry::gemm_list_sm80
