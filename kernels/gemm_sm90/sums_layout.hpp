/// Which sums of a block's tile a thread holds. Plain constexpr C++, shared by host and device.
#pragma once

#include "gemm_sm90/config.hpp"
#include "layout/sums.hpp"

namespace quarry::gemm_sm90 {

/// (thread, value) -> row + tile.m * column, of the threads that multiply, which follow the first warpgroup.
/// Values are counted as the kernel's array of accumulators has them: first an instruction's, then
/// instructions along M. With ping_pong each warpgroup has a tile of its own.
constexpr layout::Layout block_sums(const Config& c) {
  using namespace layout;
  const quarry::layout::Layout one = warpgroup_sums(c.tile.n, c.tile.m);
  const int rows = c.schedule == Schedule::ping_pong ? 0 : blocks_m(c) * instruction_m;
  return nested(nested(mode(one, 0), leaf(consumers(c), rows)),
                nested(mode(one, 1), leaf(blocks_m(c), instruction_m)));
}

}  // namespace quarry::gemm_sm90
