/// What a piece of work reads of an operand, whichever of the two it is: what operand sources are made from.
#pragma once

#include "arch/arch.hpp"
#include "common/config_parts.hpp"
#include "common/matrix_params.hpp"
#include "common/tile_scheduler.cuh"

namespace quarry {

/// One direction of an operand.
struct OperandRange {
  long long stride;  ///< elements of memory from one to the next
  int base;          ///< where the problem begins
  int first;         ///< where the work begins, counted from there
  int end;           ///< where the problem ends, counted likewise
};

/// The part of an operand that a piece of work needs: along M or N from `extent.first` on, along K `k_tiles`
/// K tiles.
struct OperandPart {
  const MatrixParams& matrix;
  int batch;
  OperandRange extent;  ///< along M or N
  OperandRange k;
  int k_tiles;
};

template <class Work>
QUARRY_DEVICE OperandPart part_of_a(const MatrixParams& a, const Work& work, Tile tile) {
  return {a,
          work.a().batch,
          {a.row_stride, work.a().row, work.tile_m * tile.m, work.m()},
          {a.column_stride, work.a().column, work.first_k_tile * tile.k, work.k()},
          work.k_tiles};
}

template <class Work>
QUARRY_DEVICE OperandPart part_of_b(const MatrixParams& b, const Work& work, Tile tile) {
  return {b,
          work.b().batch,
          {b.column_stride, work.b().column, work.tile_n * tile.n, work.n()},
          {b.row_stride, work.b().row, work.first_k_tile * tile.k, work.k()},
          work.k_tiles};
}

/// The columns of B that the first halves of a tile of gated pairs need. Those of the second halves lie
/// `extent.end` columns further on.
template <class Work>
QUARRY_DEVICE OperandPart gated_part_of_b(const MatrixParams& b, const Work& work, Tile tile) {
  OperandPart part = part_of_b(b, work, tile);
  part.extent.first = work.tile_n * (tile.n / 2);
  part.extent.end = work.n() / 2;
  return part;
}

}  // namespace quarry
