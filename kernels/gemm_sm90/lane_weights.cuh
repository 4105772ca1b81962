/// The weights of a lane: from shared memory, where they lie as they are stored, to the left operand of a
/// matrix instruction, in which a lane has two rows that lie eight apart, and of 16 positions of K those that
/// follow 2 (lane % 4) and 8 + 2 (lane % 4) (PTX ISA, register fragments of wgmma).
#pragma once

#include "arch/weights.hpp"
#include "gemm_sm90/weight_zeros.cuh"

namespace quarry::gemm_sm90 {

/// Positions of K that a lane reads at once: two instructions'.
inline constexpr int piece_k = 32;

/// The two rows of a lane in a tile of weights.
template <Config config>
class LaneRows {
  static constexpr OperandBox box = box_a(config);
  static_assert(box.panels() == 1 && stage_bytes(config) % box.panel_line_bytes() == 0);

 public:
  /// @param row the upper one in the tile
  QUARRY_DEVICE explicit LaneRows(int row) {
    constexpr OperandBox tile = box;  // device code of nvcc has no address of a static member
    first_ = tile.permutation()(tile.offset(0, row));
  }

  QUARRY_DEVICE void begin(arch::SharedAddress tile) { line_ = tile + first_; }

  /// The n-th 16 bytes of the upper row. The permutation turns over bits of the place in a line: it may come
  /// before the chunk does.
  QUARRY_DEVICE arch::SharedAddress chunk(int n) const {
    return {line_.value ^ static_cast<unsigned>(16 * n)};
  }

  /// Bytes from there to the lower row's: rows that lie eight apart are permuted alike.
  static constexpr int to_lower = 8 * box.panel_line_bytes();

 private:
  int first_;                 ///< in a tile
  arch::SharedAddress line_;  ///< in memory
};

/// What a lane needs of a stage. Of half bytes it reads the same 16 bytes as the three beside it, and takes a
/// byte of each word.
template <Config config, int bits = bits_of(config.types.a)>
class LaneWeights {
  using T = Element<config.types.b>;
  using Word = typename HalfByteWord<config.types.a>::Type;

 public:
  static constexpr float unit = arch::weight_unit<T, Word>;
  static constexpr int pieces = config.tile.k / piece_k;

  /// @param row the upper one in the tile @param nothing as of half_byte_lane
  QUARRY_DEVICE LaneWeights(int row, unsigned nothing)
      : rows_(row), lane_(arch::half_byte_lane<T>(arch::lane_index() % 4, nothing)) {}

  /// Goes on to another tile, and reads its first piece.
  QUARRY_DEVICE void begin(arch::SharedAddress tile) {
    rows_.begin(tile);
    read(0);
  }

  /// Reads a piece of both rows.
  QUARRY_DEVICE void read(int piece) {
    using Piece = arch::Vector<unsigned, 4>;
    const arch::SharedAddress at = rows_.chunk(piece);
    upper_[piece] = arch::shared_load<Piece>(at);
    lower_[piece] = arch::shared_load<Piece>(at + rows_.to_lower);
  }

  /// The left operand of the step-th instruction along K, times `unit`. @pre its piece was read
  QUARRY_DEVICE arch::MatrixFragment fragment(int step, const RowZeroPoints& zeros) const {
    const arch::Vector<unsigned, 2> near = pairs(step / 2, step % 2 * 2, zeros);
    const arch::Vector<unsigned, 2> far = pairs(step / 2, step % 2 * 2 + 1, zeros);
    return {near.v[0], near.v[1], far.v[0], far.v[1]};
  }

 private:
  QUARRY_DEVICE arch::Vector<unsigned, 2> pairs(int piece, int word, const RowZeroPoints& zeros) const {
    const Word upper{upper_[piece].v[word]};
    const Word lower{lower_[piece].v[word]};
    if constexpr (is_unsigned(config.types.a)) {
      return arch::half_byte_rows<T>(upper, lower, lane_, zeros.upper, zeros.lower);
    } else {
      return arch::half_byte_rows<T>(upper, lower, lane_);
    }
  }

  LaneRows<config> rows_;
  arch::HalfByteLane lane_;
  arch::Vector<unsigned, 4> upper_[pieces];
  arch::Vector<unsigned, 4> lower_[pieces];
};

/// Of bytes it reads two and two, which are its own.
template <Config config>
class LaneWeights<config, 8> {
  using T = Element<config.types.b>;
  using Word = typename ByteWord<config.types.a>::Type;

 public:
  static constexpr float unit = arch::weight_unit<T, Word>;
  static constexpr int pieces = config.tile.k / piece_k;

  QUARRY_DEVICE LaneWeights(int row, unsigned /*nothing*/)
      : rows_(row), in_chunk_(arch::lane_index() % 4 * 2) {}

  QUARRY_DEVICE void begin(arch::SharedAddress tile) {
    rows_.begin(tile);
    read(0);
  }

  QUARRY_DEVICE void read(int piece) {
    QUARRY_UNROLL
    for (int step = 2 * piece; step < 2 * piece + 2; ++step) {
      const arch::SharedAddress at = rows_.chunk(step) + in_chunk_;
      QUARRY_UNROLL
      for (int i = 0; i < 4; ++i)
        bytes_[step][i] = arch::shared_load<unsigned short>(at + (i % 2 * rows_.to_lower + i / 2 * 8));
    }
  }

  QUARRY_DEVICE arch::MatrixFragment fragment(int step, const RowZeroPoints& zeros) const {
    const auto& bytes = bytes_[step];
    return {pair(bytes[0], zeros.upper), pair(bytes[1], zeros.lower), pair(bytes[2], zeros.upper),
            pair(bytes[3], zeros.lower)};
  }

 private:
  QUARRY_DEVICE static unsigned pair(unsigned bytes, arch::ZeroPoint zero) {
    if constexpr (is_unsigned(config.types.a)) {
      return arch::byte_pair<T>(Word{bytes}, zero);
    } else {
      return arch::byte_pair<T>(Word{bytes});
    }
  }

  LaneRows<config> rows_;
  int in_chunk_;
  unsigned short bytes_[2 * pieces][4];
};

}  // namespace quarry::gemm_sm90
