/// Which sums of a block's tile a thread holds. Plain constexpr C++, shared by host and device.
#pragma once

#include "gemm_sm80/config.hpp"
#include "layout/sums.hpp"

namespace quarry::gemm_sm80 {

/// (thread of the block, value) -> row + tile.m * column. Values are counted as the kernel's array of
/// accumulators has them: first an instruction's, instructions along N, then along M. Warps along K hold
/// parts of the same sums.
constexpr layout::Layout block_sums(const Config& c) {
  using namespace layout;
  const Tile warp = warp_tile(c);
  const quarry::layout::Layout one = warp_sums(c.tile.m);
  const auto warps = nested(leaf(c.warps.m, warp.m), leaf(c.warps.n, warp.n * c.tile.m), leaf(c.warps.k, 0));
  // Of m8n8 instructions, two make the 16 rows.
  const auto instructions =
      nested(leaf(warp.n / instruction_shape(c).n, instruction_shape(c).n * c.tile.m), leaf(warp.m / 16, 16));
  return nested(nested(mode(one, 0), warps), nested(mode(one, 1), instructions));
}

}  // namespace quarry::gemm_sm80
