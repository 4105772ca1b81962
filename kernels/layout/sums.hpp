/// Which elements of a product a thread holds after a matrix instruction. The sums of a product with so many
/// rows are counted column by column: element (row, column) has number row + rows * column.
#pragma once

#include "layout/layout.hpp"

namespace quarry::layout {

/// mma.m16n8 (PTX ISA, accumulator fragment of m16n8k16), (lane, value) -> element: of each half of the 16
/// rows, a lane holds two neighbours of row lane / 4.
constexpr Layout warp_sums(int rows = 16) {
  const Layout lane = nested(leaf(4, 2 * rows), leaf(8, 1));
  const Layout value = nested(leaf(2, rows), leaf(2, 8));
  return nested(lane, value);
}

/// wgmma.m64nN (PTX ISA, register fragment of D), (thread of the warpgroup, value) -> element: each warp
/// holds 16 rows, eight columns of them after another as above. Of f16 sums, a register holds two
/// neighbouring values.
constexpr Layout warpgroup_sums(int n, int rows = 64) {
  const Layout warp = warp_sums(rows);
  return nested(nested(mode(warp, 0), leaf(4, 16)), nested(mode(warp, 1), leaf(n / 8, 8 * rows)));
}

}  // namespace quarry::layout
