/// Copies matrices from one layout to another.
#pragma once

#include "arch/arch.hpp"
#include "reorder_matrix/config.hpp"
#include "reorder_matrix/copy_pieces.cuh"
#include "reorder_matrix/lines.cuh"
#include "reorder_matrix/params.hpp"
#include "reorder_matrix/turn_pieces.cuh"

namespace quarry::reorder_matrix {

template <Config config, class T, class Lines>
QUARRY_DEVICE void move_lines(const ReorderParams& params) {
  if (params.from.lines_are_rows == params.to.lines_are_rows)
    copy_pieces<config, T, Lines>(params);
  else
    turn_pieces<config, T, Lines>(params);
}

/// The kernel: blocks walk over pieces or tiles.
template <Config config>
QUARRY_DEVICE void kernel(const ReorderParams& params) {
  using T = typename ElementOf<element_bytes(config)>::Type;
  if (moves<T>(params.from, piece_bytes) && moves<T>(params.to, piece_bytes))
    move_lines<config, T, PieceLines<T>>(params);
  else
    move_lines<config, T, AnyLines<T>>(params);
}

}  // namespace quarry::reorder_matrix
