/// Zero points of weights, which are taken off while a tile is read.
#pragma once

#include "arch/arch.hpp"
#include "common/config_parts.hpp"
#include "gemm/zero_view.cuh"
#include "gemm_simt/config.hpp"

namespace quarry::gemm_simt {

/// What is taken off the elements of an operand: nothing.
struct NoZeros {};

/// Zero points of the lines of a block's tile, from a position of K on.
class TileZeros {
 public:
  /// @param line first one of the tile @param k first position of the block's work
  QUARRY_DEVICE TileZeros(const ZeroView& view, int line, int k) : view_(view), line_(line), k_(k) {}

  QUARRY_DEVICE unsigned at(int along_extent, int along_k) const {
    return view_.at(line_ + along_extent, k_ + along_k);
  }
  QUARRY_DEVICE void advance(int k) { k_ += k; }

 private:
  ZeroView view_;
  int line_;
  int k_;
};

/// Item `x` less its zero point.
template <class Item>
QUARRY_DEVICE Item less_zero(Item x, const NoZeros&, int, int) {
  return x;
}
QUARRY_DEVICE float less_zero(float x, const TileZeros& zeros, int along_extent, int along_k) {
  return x - static_cast<float>(zeros.at(along_extent, along_k));
}
QUARRY_DEVICE void advance(NoZeros&, int) {}
QUARRY_DEVICE void advance(TileZeros& zeros, int k) { zeros.advance(k); }

/// The zero points of an operand of such a type.
template <bool has_zeros>
struct ZerosOf {
  using Type = NoZeros;
};
template <>
struct ZerosOf<true> {
  using Type = TileZeros;
};
template <Config config, DType type>
using Zeros = typename ZerosOf<has_zeros(config) && is_weight(type)>::Type;

}  // namespace quarry::gemm_simt
