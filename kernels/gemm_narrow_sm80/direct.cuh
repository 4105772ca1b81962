/// The main loop of weights that lanes read from memory themselves, without a stop in shared memory.
///
/// A block begins to read at once, and its warps wait for nobody until they add up their sums. That pays
/// where the weights are few: with one row, 4096 x 4096 take 7.2 us on an H200 and by the bulk copy engine
/// 8.6, 2048 x 2048 take 4.9 and 5.8. A lane has only the next piece on its way beside the one that it
/// multiplies, so that more weights are not faster: 8192 x 8192 take 14.9 and 14.4. Each group of warps has a
/// part of K in one piece, so that four lanes fetch the scales of four pieces.
#pragma once

#include "arch/sm90.hpp"
#include "common/operand_part.cuh"
#include "gemm/scale_view.cuh"
#include "gemm_narrow_sm80/copies.cuh"
#include "gemm_narrow_sm80/sums.cuh"
#include "gemm_narrow_sm80/weights.cuh"

namespace quarry::gemm_narrow_sm80 {

/// What a lane has of 128 positions of K: 32 neighbours of each of its columns, and the elements of its rows
/// of A that they are multiplied by. The four lanes of a row of an instruction have the positions one after
/// another.
template <Config config>
struct LanePiece {
  using S = Shape<config>;
  using Vector = arch::Vector<unsigned, 4>;
  static constexpr int lane_k = stage_k / 4;
  static constexpr int a_vectors = lane_k / 8;

  Vector columns[S::blocks_n][2];  ///< of two that lie eight apart
  Vector rows[S::blocks_m][a_vectors];
};

/// Reads a lane's pieces.
template <Config config>
class PieceReader {
  using S = Shape<config>;
  using Piece = LanePiece<config>;
  using Vector = typename Piece::Vector;
  static constexpr int bits = weight_bits(config);

 public:
  template <class Work>
  QUARRY_DEVICE PieceReader(const GemmParams& params, const Work& work, int warp_n) {
    const int in_row = arch::lane_index() / 4;
    const int k = arch::lane_index() % 4 * Piece::lane_k;
    const OperandPart b = part_of_b(params.b, work, config.tile);
    QUARRY_UNROLL
    for (int n = 0; n < S::blocks_n; ++n) {
      QUARRY_UNROLL
      for (int half = 0; half < 2; ++half)
        columns_[n][half] = line_of<bits>(b, warp_n * S::warp_n + n * 16 + half * 8 + in_row, k);
    }
    const OperandPart a = part_of_a(params.a, work, config.tile);
    QUARRY_UNROLL
    for (int m = 0; m < S::blocks_m; ++m) rows_[m] = line_of<16>(a, m * 8 + in_row, k);
  }

  /// Reads the piece that begins at position `k`. @pre all of it lies before the end of K
  QUARRY_DEVICE void read(int k, Piece& piece) const {
    read_by(
        k, piece, [](const char* from) { return arch::global_load<Vector>(from); },
        [](const char* from, int) { return arch::global_load<Vector>(from); });
  }

  /// Reads the last piece, of which only the first `positions` lie before the end of K; the rest is 0.
  QUARRY_DEVICE void read_part(int k, int positions, Piece& piece) const {
    const int left = positions - arch::lane_index() % 4 * Piece::lane_k;
    read_by(
        k, piece, [=](const char* from) { return first_bytes(from, valid_bytes<bits>(left)); },
        [=](const char* from, int i) { return first_bytes(from, valid_bytes<16>(left - 8 * i)); });
  }

 private:
  /// Where a position of a line of an operand lies; of its last line for one that does not exist.
  template <int element_bits>
  QUARRY_DEVICE static const char* line_of(const OperandPart& part, int line, int k) {
    const OperandRange& range = part.extent;
    const int existing = range.first + line < range.end ? range.first + line : range.end - 1;
    const long long element = (range.base + existing) * range.stride + k;
    return static_cast<const char*>(part.matrix.data) +
           (batch_bytes<element_bits>(part.matrix, part.batch) + element * element_bits / 8);
  }

  /// 16 bytes, of which those behind the first `valid` are 0 and not read.
  QUARRY_DEVICE static Vector first_bytes(const char* from, int valid) {
    if (valid == 16) return arch::global_load<Vector>(from);
    Vector bytes = {};
    QUARRY_ROLLED
    for (int i = 0; i < valid; ++i) {
      const unsigned byte = arch::global_load<unsigned char>(from + i);
      QUARRY_UNROLL
      for (int word = 0; word < 4; ++word) bytes.v[word] |= i / 4 == word ? byte << i % 4 * 8 : 0;
    }
    return bytes;
  }

  template <class ReadWeights, class ReadA>
  QUARRY_DEVICE void read_by(int k, Piece& piece, const ReadWeights& read_weights,
                             const ReadA& read_a) const {
    QUARRY_UNROLL
    for (int n = 0; n < S::blocks_n; ++n) {
      QUARRY_UNROLL
      for (int half = 0; half < 2; ++half)
        piece.columns[n][half] = read_weights(columns_[n][half] + static_cast<long long>(k) * bits / 8);
    }
    QUARRY_UNROLL
    for (int m = 0; m < S::blocks_m; ++m) {
      QUARRY_UNROLL
      for (int i = 0; i < Piece::a_vectors; ++i)
        piece.rows[m][i] = read_a(rows_[m] + (static_cast<long long>(k) * 2 + 16 * i), i);
    }
  }

  const char* columns_[S::blocks_n][2];
  const char* rows_[S::blocks_m];
};

/// The scales of a lane's columns. Of four pieces, each of the four lanes that share a column has one's; they
/// tell each other.
template <Config config>
class PieceScales {
  using S = Shape<config>;

 public:
  /// @param column the lane's first one @param k where the first piece begins
  QUARRY_DEVICE PieceScales(const ScaleView& scales, int column, int columns, int k, int k_end)
      : scales_(scales), column_(column), columns_(columns), k_(k), k_end_(k_end) {
    fetch();
  }

  /// Goes on to the next four pieces; by all lanes.
  QUARRY_DEVICE void advance() {
    QUARRY_UNROLL
    for (int n = 0; n < S::blocks_n; ++n) {
      QUARRY_UNROLL
      for (int half = 0; half < 2; ++half) held_[n][half] = next_[n][half];
    }
    fetch();
  }

  /// The scale of the column n * 16 + half * 8 further on, for piece `i` of the four.
  QUARRY_DEVICE float at(int n, int half, int i) const {
    const int from = (arch::lane_index() & ~3) + i;
    return __builtin_bit_cast(float, arch::shuffle(__builtin_bit_cast(int, held_[n][half]), from));
  }

 private:
  QUARRY_DEVICE void fetch() {
    const int k = k_ + arch::lane_index() % 4 * stage_k;
    const int block = scales_.block_at(k);
    QUARRY_UNROLL
    for (int n = 0; n < S::blocks_n; ++n) {
      QUARRY_UNROLL
      for (int half = 0; half < 2; ++half)
        next_[n][half] = k < k_end_ ? scales_.at(column_ + n * 16 + half * 8, columns_, block) : 1;
    }
    k_ += 4 * stage_k;
  }

  const ScaleView& scales_;
  int column_;
  int columns_;
  int k_;  ///< of the four pieces that are fetched next
  int k_end_;
  float held_[S::blocks_n][2];
  float next_[S::blocks_n][2];
};

/// Adds the products of a piece to the sums of the group.
template <Config config>
QUARRY_DEVICE void multiply_piece(const LanePiece<config>& piece, Sums<config>& sums) {
  using S = Shape<config>;
  static_assert(weight_bits(config) == 4);
  QUARRY_UNROLL
  for (int i = 0; i < LanePiece<config>::a_vectors; ++i) {
    arch::FragmentB rows[S::blocks_m][2];
    QUARRY_UNROLL
    for (int m = 0; m < S::blocks_m; ++m) activation_fragments<4>(piece.rows[m][i], rows[m]);
    QUARRY_UNROLL
    for (int n = 0; n < S::blocks_n; ++n) {
      arch::MatrixFragment weights[2];
      const unsigned upper = piece.columns[n][0].v[i];
      const unsigned lower = piece.columns[n][1].v[i];
      if constexpr (is_unsigned(config.types.b)) {
        constexpr arch::ZeroPoint none = arch::no_pair_zero<Element<config.types.a>>;
        weight_fragments<config.types.a, config.types.b>(upper, lower, weights, ColumnZeros{none, none});
      } else {
        weight_fragments<config.types.a, config.types.b>(upper, lower, weights);
      }
      QUARRY_UNROLL
      for (int half = 0; half < 2; ++half) {
        QUARRY_UNROLL
        for (int m = 0; m < S::blocks_m; ++m)
          arch::mma<Element<config.types.a>>(sums.group[n][m], weights[half], rows[m][half]);
      }
    }
  }
}

/// Loads a byte of each line of the parameters, so that the misses overlap: the cache of constant memory is
/// cold when a kernel starts.
template <class Params>
QUARRY_DEVICE void load_lines(const Params& params) {
  constexpr int line = 64;
  const auto* const begin = reinterpret_cast<const char*>(&params);
  int bytes = 0;
  QUARRY_UNROLL
  for (int i = 0; i < static_cast<int>(sizeof(Params)); i += line) bytes |= begin[i];
  arch::load_now(bytes);
}

/// Whether a block reads memory to find its work, which it may do once earlier kernels have ended.
QUARRY_DEVICE bool reads_first(const ScaledGemmParams& params) {
  const GemmParams& gemm = params.gemm;
  return gemm.mode == Mode::split_k_serial || is_pointer_array(gemm.a) || is_pointer_array(gemm.b) ||
         is_pointer_array(params.scales.a.values) || is_pointer_array(params.scales.b.values);
}

/// A warp's way along its part of K.
template <Config config>
class DirectProduct {
  using S = Shape<config>;
  static constexpr int held = config.stages;
  static_assert(held == 2 || held == 4);  // scales are fetched for four pieces at once

 public:
  /// Reads no memory, except where reads_first.
  template <class Work>
  QUARRY_DEVICE DirectProduct(const ScaledGemmParams& params, const Work& work, int warp_n, int group)
      : first_(work.first_k_tile * config.tile.k + group * work.k_tiles * stage_k),
        length_(length(work, first_)),
        reader_(params.gemm, work, warp_n),
        scales_a_(params.scales.a, work.a().batch),
        scales_b_(params.scales.b, work.b().batch),
        has_a_(params.scales.a.values.data != nullptr),
        row_(work.tile_m * config.tile.m),
        rows_(work.m()),
        column_(work.tile_n * config.tile.n + warp_n * S::warp_n + arch::lane_index() / 4),
        columns_(work.n()) {}

  QUARRY_DEVICE void add_up(Sums<config>& sums) const {
    const int pieces = length_ / stage_k;
    LanePiece<config> piece[held];
    QUARRY_UNROLL
    for (int i = 0; i < held - 1; ++i) {
      if (i < pieces) reader_.read(first_ + i * stage_k, piece[i]);
    }
    PieceScales<config> scales(scales_b_, column_, columns_, first_, first_ + length_);
    QUARRY_ROLLED
    for (int done = 0; done < pieces; done += held) {
      if (done % 4 == 0) scales.advance();
      QUARRY_UNROLL
      for (int i = 0; i < held; ++i) {
        const int at = done + i;
        if (at >= pieces) break;
        if (at + held - 1 < pieces)
          reader_.read(first_ + (at + held - 1) * stage_k, piece[(i + held - 1) % held]);
        multiply(piece[i], at, scales, sums);
      }
    }
    if (length_ % stage_k == 0) return;
    if (pieces % 4 == 0) scales.advance();
    reader_.read_part(first_ + pieces * stage_k, length_ % stage_k, piece[0]);
    multiply(piece[0], pieces, scales, sums);
  }

 private:
  template <class Work>
  QUARRY_DEVICE static int length(const Work& work, int first) {
    const int left = work.k() - first;
    const int most = work.k_tiles * stage_k;
    return left <= 0 ? 0 : left < most ? left : most;
  }

  /// The products of piece `at`, times their scales.
  QUARRY_DEVICE void multiply(const LanePiece<config>& piece, int at, const PieceScales<config>& scales,
                              Sums<config>& sums) const {
    multiply_piece<config>(piece, sums);
    if (has_a_) scale_rows<config>(scales_a_, row_, rows_, first_ + at * stage_k, sums);
    QUARRY_UNROLL
    for (int n = 0; n < S::blocks_n; ++n) {
      constexpr float one = 1 / weight_unit<config.types.a, config.types.b>;
      const float of[2] = {scales.at(n, 0, at % 4) * one, scales.at(n, 1, at % 4) * one};
      promote_columns<config>(sums, n, of);
    }
  }

  int first_;
  int length_;  ///< positions of K, the last piece of which may be a part
  PieceReader<config> reader_;
  ScaleView scales_a_;
  ScaleView scales_b_;
  bool has_a_;
  int row_;
  int rows_;
  int column_;
  int columns_;
};

/// Adds up the products of the work: the warp's columns, and of K its group's part. Before it reads memory,
/// earlier kernels have ended.
template <Config config, class Work>
QUARRY_DEVICE void direct_mainloop(const ScaledGemmParams& params, const Work& work, int warp_n, int group,
                                   Sums<config>& sums) {
  const DirectProduct<config> product(params, work, warp_n, group);
  arch::wait_for_earlier_kernels();
  arch::let_later_kernels_start();
  product.add_up(sums);
}

}  // namespace quarry::gemm_narrow_sm80
