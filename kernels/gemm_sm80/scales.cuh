/// Sums times scales of the operands.
#pragma once

#include "arch/arch.hpp"
#include "common/element.cuh"
#include "gemm/params.hpp"
#include "gemm/scale_view.cuh"
#include "gemm_sm80/mainloop.cuh"

namespace quarry::gemm_sm80 {

/// The sums of one warp times scales: pairs as Sums::pair has them.
template <Config config>
struct PromotedSums {
  arch::Vector<float, 2> pairs[Shape<config>::blocks_m][4 * Shape<config>::blocks_n] = {};

  QUARRY_DEVICE const arch::Vector<float, 2>& pair(int m, int i) const { return pairs[m][i]; }
};

/// Multiplies a warp's sums by the scales of their rows and columns: once with vector_scales, at the end of
/// each 128 of K with block_scales. Rows and columns behind the last one repeat its scale: their sums go
/// nowhere.
/// @tparam gated the tile's columns are gated pairs: half of them, and their partners half of all columns
/// further on
template <Config config, class Work, bool gated = false>
class Promoter {
  using S = Shape<config>;
  static constexpr bool is_blocked = config.scales == ScaleSupport::block_scales;

 public:
  QUARRY_DEVICE Promoter(const GemmScaleParams& scales, const Work& work)
      : work_(work), a_(scales.a, work.a().batch), b_(scales.b, work.b().batch) {
    const WarpPlace place = warp_place<config>();
    row_ = work.tile_m * config.tile.m + place.m * S::warp.m + arch::lane_index() / 4;
    column_ = (gated ? 0 : work.tile_n * config.tile.n) + place.n * S::warp.n + arch::lane_index() % 4 * 2;
  }

  /// The products of a K tile of the work have been added to `sums`: a whole block of K is
  /// promoted, and the last K tile, which comes first (mainloop).
  QUARRY_DEVICE void multiplied(int k_tile, Sums<config>& sums, PromotedSums<config>& promoted) const {
    if constexpr (is_blocked) {
      constexpr int tiles = scale_block / config.tile.k;
      const int tile = work_.first_k_tile + k_tile;
      const bool is_last = k_tile == work_.k_tiles - 1 || k_tile == work_.k_tiles - 2;
      if (tile % tiles == tiles - 1 || is_last) promote(tile / tiles, sums, promoted);
    }
  }

  /// All products have been added.
  QUARRY_DEVICE void finish(Sums<config>& sums, PromotedSums<config>& promoted) const {
    if constexpr (!is_blocked) promote(0, sums, promoted);
  }

 private:
  /// promoted += scales * sums, and sums become 0.
  QUARRY_DEVICE void promote(int block, Sums<config>& sums, PromotedSums<config>& promoted) const {
    const int base = work_.a().row;
    float of_row[S::blocks_m][2];
    QUARRY_UNROLL
    for (int m = 0; m < S::blocks_m; ++m) {
      QUARRY_UNROLL
      for (int half = 0; half < 2; ++half)
        of_row[m][half] = a_.at(base + row_ + 16 * m + 8 * half, base + work_.m(), block);
    }
    QUARRY_UNROLL
    for (int n = 0; n < 2 * S::blocks_n; ++n) {
      // Each in these words: others, of the same value, make other code of kernels without pairs.
      const float of_column[2] = {
          b_.at(gated ? gated_column(8 * n) : column_ + 8 * n, work_.n(), block),
          b_.at(gated ? gated_column(8 * n + 1) : column_ + 8 * n + 1, work_.n(), block)};
      QUARRY_UNROLL
      for (int m = 0; m < S::blocks_m; ++m) {
        QUARRY_UNROLL
        for (int half = 0; half < 2; ++half) {
          const auto sum = sums.pair(m, 2 * n + half);
          arch::Vector<float, 2>& to = promoted.pairs[m][2 * n + half];
          QUARRY_UNROLL
          for (int v = 0; v < 2; ++v)
            to.v[v] = multiplied_added(of_row[m][half] * of_column[v], static_cast<float>(sum.v[v]), to.v[v]);
        }
        sums.block[m][n] = {};
      }
    }
  }

  /// The problem's column of the tile's that lies `i` behind the lane's first one.
  QUARRY_DEVICE int gated_column(int i) const {
    constexpr int half = config.tile.n / 2;
    const int column = column_ + i;
    return work_.tile_n * half + (column < half ? column : work_.n() / 2 + column - half);
  }

  const Work& work_;
  ScaleView a_;
  ScaleView b_;
  int row_;
  int column_;  ///< of gated pairs, in the tile
};

}  // namespace quarry::gemm_sm80
