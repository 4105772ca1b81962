/// How a warp reads its operands for matrix instructions from a stage.
#pragma once

#include "arch/arch.hpp"
#include "common/operand_tile.cuh"

namespace quarry {

/// Which operand of the matrix instruction: they differ in the order of the 8 x 8 matrices of a fragment.
enum class Side { a, b };

/// Reads blocks of an operand's tile (16 along M or N, 32 bytes along K) in the order that the instruction
/// wants, by matrix loads. What depends on the lane is computed once: the permutation repeats after a few
/// blocks, so a handful of offsets serve all of them.
template <OperandTile tile, Side side, int blocks, int k_steps>
class MatrixReader {
  static constexpr SwizzledTile shared() { return tile.shared(); }

 public:
  using Part = arch::MatrixFragment;

  /// For the warp's part of the tile, from (first_extent, first_k) on, both multiples of a block.
  QUARRY_DEVICE MatrixReader(int first_extent, int first_k) {
    // The lane addresses line `lane % 8` of matrix `lane / 8`. Matrices 1 and 3 lie 8 further along one
    // extent (half a block), 2 and 3 along the other: along M, then K for the left operand; along K, then N
    // for the right one, whose columns come in eights.
    constexpr int half_k = 16 / tile.element_bytes;
    const int lane = arch::lane_index();
    const int odd_matrix = lane / 8 % 2;
    const int high_matrix = lane / 16;
    const int extent = first_extent + 8 * (side == Side::a ? odd_matrix : high_matrix);
    const int k = first_k + half_k * (side == Side::a ? high_matrix : odd_matrix);
    const int line = (tile.k_contiguous ? extent : k) + lane % 8;
    const int chunk = (tile.k_contiguous ? k : extent) / tile.chunk_elements();
    QUARRY_UNROLL
    for (int i = 0; i < distinct; ++i) offset_[i] = shared().offset(line, chunk + i * block_chunks);
  }

  /// The fragment of one block at one step along K.
  QUARRY_DEVICE arch::MatrixFragment load(arch::SharedAddress stage, int k_step, int block) const {
    const int down = tile.k_contiguous ? block : k_step;   // blocks from line to line
    const int along = tile.k_contiguous ? k_step : block;  // blocks along a line
    const int chunks = down * 16 * shared().chunks_per_line + along / distinct * shared().period();
    const arch::SharedAddress line = stage + offset_[along % distinct] + chunks * 16;
    return tile.k_contiguous ? arch::load_matrix_x4(line) : arch::load_matrix_x4_transposed(line);
  }

 private:
  static_assert(tile.has_matrix_loads());
  static constexpr int block_chunks = 2;
  static constexpr int along_line = tile.k_contiguous ? k_steps : blocks;
  static constexpr int repeat = tile.shared().period() / block_chunks;
  static constexpr int distinct = along_line < repeat ? along_line : repeat;

  int offset_[distinct];
};

/// Two bytes that are neighbours along K, read at once.
using BytePair = unsigned short;

/// What ElementReader reads of one block for one step: of f32 and of pairs of bytes in the order of
/// MatrixFragment, a word each; of f64 the lane's element of the first and the second eight rows (or
/// columns).
template <class Stored>
struct ElementPart;
template <>
struct ElementPart<float> {
  using Type = arch::MatrixFragment;
};
template <>
struct ElementPart<BytePair> {
  using Type = arch::MatrixFragment;
};
template <>
struct ElementPart<double> {
  using Type = arch::Vector<double, 2>;
};

/// The same by loads of single elements or pairs, where there are no matrix loads, or they would bring the
/// wrong ones: blocks of 16 along M or N, and along K 8 of f32, 4 of f64 or 16 bytes. A lane reads row (or
/// column) lane / 4 and k lane % 4 (of pairs) of each 8 x 4 part of a block.
template <OperandTile tile, Side side, int blocks, int k_steps, class Stored>
class ElementReader {
  static constexpr SwizzledTile shared() { return tile.shared(); }

 public:
  using Part = typename ElementPart<Stored>::Type;

  /// For the warp's part of the tile, from (first_extent, first_k) on, both multiples of a block.
  QUARRY_DEVICE ElementReader(int first_extent, int first_k) {
    const int extent = first_extent + arch::lane_index() / 4;
    const int k = first_k + arch::lane_index() % 4 * unit;
    const int line = tile.k_contiguous ? extent : k;
    const int element = tile.k_contiguous ? k : extent;
    const int within = element % tile.chunk_elements() * tile.element_bytes;
    QUARRY_UNROLL
    for (int i = 0; i < distinct; ++i) {
      offset_[i] = shared().offset(line, element / tile.chunk_elements() + i) + within;
    }
  }

  /// The lane's elements of one block at one step along K.
  QUARRY_DEVICE Part load(arch::SharedAddress stage, int k_step, int block) const {
    Part part;
    if constexpr (sizeof(Stored) <= 4) {
      constexpr int far_k = side == Side::a ? 2 : 1;  // where elements four k further on stand
      QUARRY_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int along_k = i / far_k % 2;
        const int along_extent = i / (3 - far_k) % 2;
        const arch::SharedAddress from =
            at(stage, 16 * block + 8 * along_extent, step_k * k_step + 4 * unit * along_k);
        if constexpr (sizeof(Stored) == 2) {
          part.v[i] = arch::shared_load<Stored>(from);
        } else {
          part.v[i] = arch::shared_load<unsigned>(from);
        }
      }
    } else {
      QUARRY_UNROLL
      for (int i = 0; i < 2; ++i)
        part.v[i] = arch::shared_load<Stored>(at(stage, 16 * block + 8 * i, step_k * k_step));
    }
    return part;
  }

 private:
  static constexpr int unit = static_cast<int>(sizeof(Stored)) / tile.element_bytes;  ///< elements of a load
  static constexpr int step_k = sizeof(Stored) == 8 ? 4 : 8 * unit;
  static constexpr int steps_along_line =
      tile.k_contiguous ? k_steps * step_k / tile.chunk_elements() : blocks * 16 / tile.chunk_elements();
  static constexpr int distinct = steps_along_line < shared().period() ? steps_along_line : shared().period();

  /// The lane's element of the part that begins so far from the warp's first one: multiples of 8 along M or
  /// N, and of 4 along K, so that the key of its line is the first one's.
  QUARRY_DEVICE arch::SharedAddress at(arch::SharedAddress stage, int extent, int k) const {
    const int lines = tile.k_contiguous ? extent : k;
    const int elements = tile.k_contiguous ? k : extent;
    const int chunks = elements / tile.chunk_elements();
    const int periods = chunks / distinct * distinct;
    return stage + offset_[chunks % distinct] +
           (lines * shared().chunks_per_line + periods) * shared().chunk_bytes +
           elements % tile.chunk_elements() * tile.element_bytes;
  }

  int offset_[distinct];
};

/// The reader for an operand's tile.
template <OperandTile tile, Side side, int blocks, int k_steps, class Stored, bool matrix_loads>
struct ReaderOf {
  using Type = MatrixReader<tile, side, blocks, k_steps>;
};
template <OperandTile tile, Side side, int blocks, int k_steps, class Stored>
struct ReaderOf<tile, side, blocks, k_steps, Stored, false> {
  using Type = ElementReader<tile, side, blocks, k_steps, Stored>;
};

}  // namespace quarry
