/// How a warp reads its operands for matrix instructions from a stage.
#pragma once

#include "arch/arch.hpp"
#include "common/operand_tile.cuh"

namespace quarry {

/// Which operand of the matrix instruction: they differ in the order of the 8 x 8 matrices of a fragment.
enum class Side { a, b };

/// Reads 16 x 16 blocks of an operand's tile (16 along M or N, 16 along K) in the order that the instruction
/// wants. What depends on the lane is computed once: the permutation repeats after a few blocks, so a handful
/// of offsets serve all of them.
template <OperandTile tile, Side side, int blocks, int k_steps>
class FragmentReader {
  static constexpr SwizzledTile shared() { return tile.shared(); }

 public:
  /// For the warp's part of the tile, from (first_extent, first_k) on, both multiples of 16.
  QUARRY_DEVICE FragmentReader(int first_extent, int first_k) {
    // The lane addresses line `lane % 8` of matrix `lane / 8`. Matrices 1 and 3 lie 8 further along one
    // extent, 2 and 3 along the other: along M, then K for the left operand; along K, then N for the right
    // one, whose columns come in eights.
    const int lane = arch::lane_index();
    const int odd_matrix = lane / 8 % 2;
    const int high_matrix = lane / 16;
    const int extent = first_extent + 8 * (side == Side::a ? odd_matrix : high_matrix);
    const int k = first_k + 8 * (side == Side::a ? high_matrix : odd_matrix);
    const int line = (tile.k_contiguous ? extent : k) + lane % 8;
    const int chunk = (tile.k_contiguous ? k : extent) / tile.chunk_elements;
    QUARRY_UNROLL
    for (int i = 0; i < distinct; ++i) offset_[i] = shared().offset(line, chunk + i * block_chunks);
  }

  /// The fragment of one block at one step of 16 along K.
  QUARRY_DEVICE arch::MatrixFragment load(arch::SharedAddress stage, int k_step, int block) const {
    const int down = tile.k_contiguous ? block : k_step;   // blocks from line to line
    const int along = tile.k_contiguous ? k_step : block;  // blocks along a line
    const int chunks = down * 16 * shared().chunks_per_line + along / distinct * shared().period();
    const arch::SharedAddress line = stage + offset_[along % distinct] + chunks * 16;
    return tile.k_contiguous ? arch::load_matrix_x4(line) : arch::load_matrix_x4_transposed(line);
  }

 private:
  static constexpr int block_chunks = 16 / OperandTile::chunk_elements;
  static constexpr int along_line = tile.k_contiguous ? k_steps : blocks;
  static constexpr int repeat = tile.shared().period() / block_chunks;
  static constexpr int distinct = along_line < repeat ? along_line : repeat;

  int offset_[distinct];
};

}  // namespace quarry
