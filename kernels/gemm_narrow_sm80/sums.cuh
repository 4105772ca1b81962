/// What a warp multiplies of a stage, and its sums.
#pragma once

#include "arch/arch.hpp"
#include "common/element.cuh"
#include "gemm/scale_view.cuh"
#include "gemm_narrow_sm80/config.hpp"
#include "gemm_narrow_sm80/copies.cuh"
#include "gemm_narrow_sm80/weights.cuh"

namespace quarry::gemm_narrow_sm80 {

/// What follows from a config inside the kernel.
template <Config config>
struct Shape {
  static constexpr int warp_n = config.tile.n / config.warps.n;
  static constexpr int blocks_n = warp_n / 16;        ///< instructions of a warp along N
  static constexpr int blocks_m = config.tile.m / 8;  ///< and along M
};

/// The sums of one warp: of the group of K at hand, and of all groups before it times their scales.
/// Rows of an instruction's sums are columns of the output.
template <Config config>
struct Sums {
  using S = Shape<config>;
  arch::AccumulatorF32 group[S::blocks_n][S::blocks_m] = {};
  arch::AccumulatorF32 all[S::blocks_n][S::blocks_m] = {};
};

/// Multiplies the sums of the group by the scales of their rows of A. @param row the tile's first one, of
/// `rows` @param k a position of the group
template <Config config>
QUARRY_DEVICE void scale_rows(const ScaleView& scales, int row, int rows, int k, Sums<config>& sums) {
  using S = Shape<config>;
  const int block = scales.block_at(k);
  QUARRY_UNROLL
  for (int m = 0; m < S::blocks_m; ++m) {
    const int first = row + m * 8 + arch::lane_index() % 4 * 2;
    const float of[2] = {scales.at(first, rows, block), scales.at(first + 1, rows, block)};
    QUARRY_UNROLL
    for (int n = 0; n < S::blocks_n; ++n) {
      QUARRY_UNROLL
      for (int v = 0; v < 4; ++v) sums.group[n][m].v[v] *= of[v % 2];
    }
  }
}

/// all += scales * group, and group becomes 0, of 16 columns. @param of the scales of two that lie eight
/// apart
template <Config config>
QUARRY_DEVICE void promote_columns(Sums<config>& sums, int n, const float (&of)[2]) {
  QUARRY_UNROLL
  for (int m = 0; m < Shape<config>::blocks_m; ++m) {
    QUARRY_UNROLL
    for (int v = 0; v < 4; ++v)
      sums.all[n][m].v[v] = arch::fma(of[v / 2], sums.group[n][m].v[v], sums.all[n][m].v[v]);
    sums.group[n][m] = {};
  }
}

struct ColumnZeros {
  arch::ZeroPoint upper;
  arch::ZeroPoint lower;
};

/// One warp's way through the stages of its group.
template <Config config>
class WarpProduct {
  using S = Shape<config>;
  static constexpr int bits = weight_bits(config);

 public:
  /// @param scales_a the scales of A, which few problems have @param row the tile's first row, of `rows`
  /// @param k_end of the problem
  QUARRY_DEVICE WarpProduct(int warp_n, const ScaleParams& scales_b, const ScaleView& scales_a, bool has_a,
                            int row, int rows, int k_end)
      : column_(warp_n * S::warp_n + arch::lane_index() / 4),
        has_b_(scales_b.values.data != nullptr),
        has_a_(has_a),
        log2_(scales_b.k_log2),
        scales_a_(scales_a),
        row_(row),
        rows_(rows),
        k_end_(k_end) {}

  /// Adds the products of a stage. Sums are promoted where a scale may change. @param k of its first position
  QUARRY_DEVICE void multiply(arch::SharedAddress stage, int k, Sums<config>& sums) const {
    QUARRY_UNROLL
    for (int part = 0; part < stage_k / 32; ++part) {
      multiply_part(stage, part, sums);
      const int end = (part + 1) * 32;
      if (part == stage_k / 32 - 1 || has_a_ || end % (1 << log2_) == 0) promote(stage, end - 32, k, sums);
    }
  }

 private:
  /// The products of 32 positions of K: of each, four lanes have eight neighbours.
  QUARRY_DEVICE void multiply_part(arch::SharedAddress stage, int part, Sums<config>& sums) const {
    const int lane = arch::lane_index();
    arch::FragmentB rows[S::blocks_m][2];
    QUARRY_UNROLL
    for (int m = 0; m < S::blocks_m; ++m) {
      const int place = place_of_a(m * 8 + lane / 4, part * 4 + lane % 4);
      activation_fragments<bits>(
          arch::shared_load<arch::Vector<unsigned, 4>>(stage + (stage_bytes_b(config) + place)), rows[m]);
    }
    QUARRY_UNROLL
    for (int n = 0; n < S::blocks_n; ++n) {
      const auto upper = stored_weights(stage, column_ + n * 16, part);
      const auto lower = stored_weights(stage, column_ + n * 16 + 8, part);
      arch::MatrixFragment weights[2];
      if constexpr (!is_unsigned(config.types.b)) {
        weight_fragments<config.types.a, config.types.b>(upper, lower, weights);
      } else {
        weight_fragments<config.types.a, config.types.b>(upper, lower, weights,
                                                         zeros_of(stage, part, column_ + n * 16));
      }
      QUARRY_UNROLL
      for (int half = 0; half < 2; ++half) {
        QUARRY_UNROLL
        for (int m = 0; m < S::blocks_m; ++m)
          arch::mma<Element<config.types.a>>(sums.group[n][m], weights[half], rows[m][half]);
      }
    }
  }

  /// The zero points of two columns that lie eight apart, for a part of the stage.
  QUARRY_DEVICE ColumnZeros zeros_of(arch::SharedAddress stage, int part, int column) const {
    using T = Element<config.types.a>;
    if constexpr (has_zeros(config)) {
      const arch::SharedAddress at =
          stage + zeros_offset(config) + ((part * 32 >> log2_) * config.tile.n + column) * 4;
      return {arch::shared_load<arch::ZeroPoint>(at), arch::shared_load<arch::ZeroPoint>(at + 8 * 4)};
    } else {
      return {arch::no_pair_zero<T>, arch::no_pair_zero<T>};
    }
  }

  /// A lane's weights of a column, of 32 positions of K that four lanes share.
  QUARRY_DEVICE static auto stored_weights(arch::SharedAddress stage, int column, int part) {
    using Stored = typename Weights<config.types.a, config.types.b>::Stored;
    constexpr int pieces = bits / 4;  // of 32 positions
    const int lane = arch::lane_index() % 4;
    const int piece = part * pieces + lane * pieces / 4;
    return arch::shared_load<Stored>(stage + lane % (4 / pieces) * static_cast<int>(sizeof(Stored)) +
                                     place_of_b<bits>(column, piece));
  }

  /// all += scales * group, without weight_unit, and group becomes 0. @param offset a position of the group
  /// in the stage
  QUARRY_DEVICE void promote(arch::SharedAddress stage, int offset, int k, Sums<config>& sums) const {
    const arch::SharedAddress scales =
        stage + (stage_bytes_b(config) + stage_bytes_a(config) + (offset >> log2_) * config.tile.n * 4);
    if (has_a_ && k + offset < k_end_) scale_rows<config>(scales_a_, row_, rows_, k + offset, sums);
    QUARRY_UNROLL
    for (int n = 0; n < S::blocks_n; ++n) {
      constexpr float one = 1 / weight_unit<config.types.a, config.types.b>;
      float of[2] = {one, one};
      if (has_b_) {
        of[0] = arch::shared_load<float>(scales + (column_ + n * 16) * 4) * one;
        of[1] = arch::shared_load<float>(scales + (column_ + n * 16 + 8) * 4) * one;
      }
      promote_columns<config>(sums, n, of);
    }
  }

  int column_;
  bool has_b_;
  bool has_a_;
  int log2_;
  const ScaleView& scales_a_;
  int row_;
  int rows_;
  int k_end_;
};

}  // namespace quarry::gemm_narrow_sm80
