/// Where the elements lie that a block reads of a gathered operand.
#pragma once

#include "conv2d/gathered_part.hpp"
#include "conv2d_sm80/config.hpp"

namespace quarry::conv2d_sm80 {

/// What one index of an element says of its place, as PlacePart, and whether it is one of the operand's.
/// Where offsets add up, they are in bytes, and row and column are multiplied out.
struct Share {
  long long offset;
  int row;
  int column;
  bool exists;
};

/// An element, or as many as the alignment tells. `address` is aligned, and not read where nothing exists.
struct Found {
  const char* address;
  bool exists;
};

/// The tap and first channel of a K tile, where it has one tap.
template <Walk walk>
struct TileTap {};
template <>
struct TileTap<Walk::by_tile> {
  Index3 tile;
};

/// Finds a block's elements, tile after tile along K. Behind the end of K nothing exists.
///
/// @tparam Matrix MatrixA or MatrixB of a direction
/// @tparam alignment elements of a piece
template <class Matrix, Bounds bounds, Walk walk, int alignment, int element_bytes>
class Gatherer : TileTap<walk> {
 public:
  QUARRY_DEVICE Gatherer(const Conv2dParams& params, const GatheredPart& part)
      : params_(params),
        tensor_(part.tensor),
        first_(static_cast<const char*>(part.tensor.data) + part.group_offset * element_bytes),
        extent_first_(part.extent_first),
        extent_end_(part.extent_end),
        k_(part.k_first),
        k_end_(part.k_end) {
    if constexpr (walk == Walk::by_tile) this->tile = tap(0);
  }

  /// The share of an index along M or N, counted from the block's first.
  QUARRY_DEVICE Share along_extent(int offset) const {
    const int at = extent_first_ + offset;
    return share(Matrix::along_extent(params_, at), at < extent_end_);
  }
  /// The share of an index along K, counted from the tile's first.
  QUARRY_DEVICE Share along_k(int offset) const {
    const int k = k_ + offset;
    if constexpr (walk == Walk::by_tile) {
      return share(
          Matrix::along_tap(params_, {this->tile.outer, this->tile.middle, this->tile.inner + offset}),
          k < k_end_);
    } else if constexpr (walk == Walk::by_piece) {
      const Divided at = divide(k / alignment, params_.windows.columns.taps);
      return share(Matrix::along_tap(params_, {at.quotient, at.rest, 0}), k < k_end_);
    } else if constexpr (walk == Walk::one_tap) {
      return share(Matrix::along_tap(params_, {0, 0, k}), k < k_end_);
    } else {
      return share(Matrix::along_k(params_, k), k < k_end_);
    }
  }
  /// The tap and channel of that index.
  QUARRY_DEVICE Index3 tap(int offset) const { return tap_index(params_.windows, k_ + offset); }
  /// The share of the index along K whose tap and channel are known.
  QUARRY_DEVICE Share along_tap(const Index3& at, int offset) const {
    return share(Matrix::along_tap(params_, at), k_ + offset < k_end_);
  }
  /// The tap and channel behind another one.
  QUARRY_DEVICE Index3 next(Index3 at) const {
    const Windows& w = params_.windows;
    if (++at.inner < w.channels.size) return at;
    if (++at.middle < w.columns.taps.size) return {at.outer, at.middle, 0};
    return {at.outer + 1, 0, 0};
  }
  QUARRY_DEVICE void next_tile(int tile_k) {
    k_ += tile_k;
    if constexpr (walk == Walk::by_tile) {
      this->tile.inner += tile_k;
      const Windows& w = params_.windows;
      if (this->tile.inner < w.channels.size) return;
      this->tile.inner = 0;
      if (++this->tile.middle < w.columns.taps.size) return;
      this->tile.middle = 0;
      ++this->tile.outer;
    }
  }

  QUARRY_DEVICE Found find(const Share& extent, const Share& k) const {
    const bool both = extent.exists && k.exists;
    if constexpr (bounds == Bounds::turned) {
      const long long place = TurnedWindows::place(params_.windows, tensor_, part(extent), part(k));
      const bool is_place = place != no_place;
      return {first_ + (is_place ? place : 0) * element_bytes, both && is_place};
    }
    const char* const address = first_ + (extent.offset + k.offset);
    if constexpr (bounds == Bounds::none) return {address, both};
    const Windows& w = params_.windows;
    return {address, both && is_in(extent.row + k.row, w.rows) && is_in(extent.column + k.column, w.columns)};
  }

 private:
  QUARRY_DEVICE static PlacePart part(const Share& share) { return {share.offset, share.row, share.column}; }
  QUARRY_DEVICE static bool is_in(int place, const WindowAxis& axis) {
    return static_cast<unsigned>(place) < static_cast<unsigned>(axis.extent);
  }

  QUARRY_DEVICE Share share(const PlacePart& part, bool exists) const {
    if constexpr (bounds == Bounds::turned) return {part.offset, part.row, part.column, exists};
    const long long offset =
        part.offset + part.row * tensor_.row_stride + part.column * tensor_.column_stride;
    return {offset * element_bytes, part.row, part.column, exists};
  }

  const Conv2dParams& params_;
  const MatrixParams& tensor_;
  const char* first_;
  int extent_first_;
  int extent_end_;
  int k_;  // the tile's first
  int k_end_;
};

}  // namespace quarry::conv2d_sm80
