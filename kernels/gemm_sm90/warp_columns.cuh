/// The columns that weights are multiplied by, for a warp's matrix instruction (PTX ISA, mma.m16n8k16): in 16
/// positions of K a lane has two pairs of a column, at 2 (lane % 4) and at 8 + 2 (lane % 4).
#pragma once

#include "arch/sm90.hpp"
#include "gemm_sm90/shape.cuh"

namespace quarry::gemm_sm90 {

/// What a warp reads of a stage, 32 positions of K at once.
template <Config config>
class WarpColumns {
  static constexpr OperandBox box = box_b(config);
  static_assert(box.k_contiguous && box.panel_line_bytes() == 128 && box.sharers == 1);

 public:
  static constexpr int blocks = config.tile.n / 8;

  QUARRY_DEVICE WarpColumns() {
    constexpr OperandBox tile = box;  // device code of nvcc has no address of a static member
    const int lane = arch::lane_index();
    first_ = tile.permutation()(tile.offset(lane / 8 * 16, lane % 8));
  }

  /// Goes on to another tile.
  QUARRY_DEVICE void begin(arch::SharedAddress tile) { line_ = tile + first_; }

  /// The right operands of two instructions, of eight columns. The permutation turns over bits of the place
  /// in a line of 128 bytes: the half of it that a piece is may come after.
  QUARRY_DEVICE arch::MatrixFragment read(int piece, int block) const {
    constexpr OperandBox tile = box;
    const arch::SharedAddress half = {line_.value ^ static_cast<unsigned>(64 * (piece % 2))};
    return arch::load_matrix_x4(half + tile.offset(piece / 2 * tile.panel_line_bytes(), 8 * block));
  }

 private:
  int first_;                 ///< in a tile
  arch::SharedAddress line_;  ///< in memory
};

}  // namespace quarry::gemm_sm90
