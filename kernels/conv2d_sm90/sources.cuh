/// What the copy engine brings of the tensors of a convolution (conv2d/places.hpp): sources of boxes, which
/// take the place of gemm_sm90's.
#pragma once

#include "common/tile_scheduler.cuh"
#include "conv2d/places.hpp"
#include "conv2d_sm90/params.hpp"
#include "gemm_sm90/tensor_producer.cuh"

namespace quarry::conv2d_sm90 {

using gemm_sm90::ClusterPlace;
using gemm_sm90::OperandBox;

/// A walk over K tiles, where K runs over the channels of a tap, then over taps. Each tap's channels begin
/// with a K tile.
class TapWalk {
 public:
  QUARRY_DEVICE TapWalk(const Windows& windows, int k_tile, int tile_k) : windows_(windows) {
    const auto number = [](int n) { return static_cast<unsigned>(n); };
    const Parts by_tap = in_parts(number(k_tile), number((windows.channels.size + tile_k - 1) / tile_k));
    const Parts by_row = in_parts(by_tap.whole, number(windows.columns.taps.size));
    channel = static_cast<int>(by_tap.rest) * tile_k;
    tap = static_cast<int>(by_tap.whole);
    columns_on = static_cast<int>(by_row.rest) * windows.columns.dilation;
    rows_on = static_cast<int>(by_row.whole) * windows.rows.dilation;
  }

  QUARRY_DEVICE void advance(int tile_k) {
    channel += tile_k;
    if (channel < windows_.channels.size) return;
    channel = 0;
    ++tap;
    columns_on += windows_.columns.dilation;
    if (columns_on < windows_.columns.taps.size * windows_.columns.dilation) return;
    columns_on = 0;
    rows_on += windows_.rows.dilation;
  }

  int channel;
  int tap;  ///< in the order of places, from a window's begin on
  int columns_on;
  int rows_on;

 private:
  const Windows& windows_;
};

/// How far in front of an image's first pixel the first window begins.
template <Direction direction>
QUARRY_DEVICE int lead(const WindowAxis& axis) {
  if (direction == Direction::dgrad) return (axis.taps.size - 1) * axis.dilation - axis.padding;
  return axis.padding;
}

/// The place of a window by its number, and a tap's distance.
template <Direction direction>
QUARRY_DEVICE arch::PixelPlace pixel_place(const Windows& w, int window) {
  const Index3 at = place_index(w, window);
  return {0,
          at.inner * w.columns.stride.size - lead<direction>(w.columns),
          at.middle * w.rows.stride.size - lead<direction>(w.rows),
          at.outer,
          0,
          0};
}

/// Loads a part of a panel: pixels from a place on.
template <OperandBox box>
QUARRY_DEVICE void load_pixels(arch::SharedAddress to, const TensorMap& map, const arch::PixelPlace& place,
                               arch::SharedAddress full, unsigned sharers) {
  if constexpr (box.sharers == 1) {
    arch::tensor_load_pixels(to, map, place, full);
  } else {
    arch::tensor_load_pixels_multicast(to, map, place, full, sharers);
  }
}

/// The first window of a block's part of a tile of windows.
template <OperandBox box, class Work>
QUARRY_DEVICE int first_window(const Work& work, int share) {
  return work.tile_m * box.extent + share * box.part_lines();
}

/// The windows of fprop and dgrad: lines are windows, elements the channels of a tap.
template <OperandBox box>
class WindowRows {
 public:
  /// @param place of the first window. @param share the block's part of what `sharers` load for each other:
  /// blocks, as bits of their ranks
  QUARRY_DEVICE WindowRows(const TensorMap& map, const arch::PixelPlace& place, int share, unsigned sharers)
      : map_(map), place_(place), share_(share), sharers_(sharers) {}

  /// @tparam Walk TapWalk or PhaseWalk
  template <class Walk>
  QUARRY_DEVICE void load(arch::SharedAddress tile, arch::SharedAddress full, const Walk& at) {
    static_assert(box.k_contiguous && box.panels() == 1);
    place_.channel = at.channel;
    place_.columns_on = at.columns_on;
    place_.rows_on = at.rows_on;
    load_pixels<box>(tile + share_ * box.part_bytes(), map_, place_, full, sharers_);
  }

 private:
  const TensorMap& map_;
  arch::PixelPlace place_;
  int share_;
  unsigned sharers_;
};

/// The tap from which a walk goes backwards; -1: forwards. dgrad looks at outputs from the window's begin on,
/// whose taps run the other way.
template <Direction direction>
QUARRY_DEVICE int last_tap(const Windows& windows) {
  return (direction == Direction::dgrad) == windows.flips
             ? -1
             : windows.rows.taps.size * windows.columns.taps.size - 1;
}

/// The filters of fprop and dgrad: channels, taps, filters. A K tile is of one tap.
template <OperandBox box>
class FilterTaps {
 public:
  /// @param last_tap see above
  template <class Work>
  QUARRY_DEVICE FilterTaps(const TensorMap& map, int last_tap, const Work& work, int share, unsigned sharers)
      : map_(map), last_tap_(last_tap), first_(work.tile_n * box.extent), share_(share), sharers_(sharers) {}

  /// @tparam Walk TapWalk or PhaseWalk
  template <class Walk>
  QUARRY_DEVICE void load(arch::SharedAddress tile, arch::SharedAddress full, const Walk& at) const {
    const int tap = last_tap_ < 0 ? at.tap : last_tap_ - at.tap;
    QUARRY_UNROLL
    for (int panel = 0; panel < box.panels(); ++panel) {
      const gemm_sm90::BoxPlace place = gemm_sm90::box_place<box>(first_, at.channel, panel, share_);
      const arch::SharedAddress to = tile + (panel * box.panel_bytes() + share_ * box.part_bytes());
      if constexpr (box.sharers == 1) {
        arch::tensor_load(to, map_, place.x, tap, place.y, full);
      } else {
        arch::tensor_load_multicast(to, map_, place.x, tap, place.y, full, sharers_);
      }
    }
  }

 private:
  const TensorMap& map_;
  int last_tap_;  ///< from which they run backwards; -1: forwards
  int first_;
  int share_;
  unsigned sharers_;
};

/// The windows of wgrad: lines are windows along K, elements the channels of taps. No line of a panel has
/// channels of two taps.
template <OperandBox box>
class WindowColumns {
 public:
  QUARRY_DEVICE WindowColumns(const TensorMap& map, const Windows& windows, int columns, const TileWork& work,
                              int share, unsigned sharers)
      : map_(map),
        windows_(windows),
        columns_(columns),
        first_(work.tile_n * box.extent),
        share_(share),
        sharers_(sharers) {}

  QUARRY_DEVICE void load(arch::SharedAddress tile, arch::SharedAddress full, int k) const {
    const Windows& w = windows_;
    arch::PixelPlace place = pixel_place<Direction::wgrad>(w, k + share_ * box.part_lines());
    QUARRY_UNROLL
    for (int panel = 0; panel < box.panels(); ++panel) {
      const int column = first_ + panel * box.panel_line_elements();
      const bool exists = column < columns_;
      const Index3 at = tap_index(w, exists ? column : 0);
      place.channel = exists ? at.inner : w.channels.size;  // behind the last: zeros
      place.rows_on = tap_distance(w.rows, at.outer, w.flips);
      place.columns_on = tap_distance(w.columns, at.middle, w.flips);
      load_pixels<box>(tile + (panel * box.panel_bytes() + share_ * box.part_bytes()), map_, place, full,
                       sharers_);
    }
  }

 private:
  const TensorMap& map_;
  const Windows& windows_;
  int columns_;  ///< of the product
  int first_;
  int share_;
  unsigned sharers_;
};

QUARRY_DEVICE const Windows& windows_of(const TensorGemmParams& params) {
  return static_cast<const TensorConv2dParams&>(params).windows;
}

/// The sources of a tile, as gemm_sm90::MatrixSources: of fprop and dgrad.
template <gemm_sm90::Config config, Direction direction>
class TensorSources {
 public:
  QUARRY_DEVICE TensorSources(const TensorGemmParams& params, const TileWork& work, const ClusterPlace& place)
      : walk_(windows_of(params), work.first_k_tile, config.tile.k),
        a_(params.a,
           pixel_place<direction>(windows_of(params), first_window<gemm_sm90::box_a(config)>(work, place.n)),
           place.n, gemm_sm90::sharers_of_a<config>(place)),
        b_(params.b, last_tap<direction>(windows_of(params)), work, place.m,
           gemm_sm90::sharers_of_b<config>(place)) {}

  QUARRY_DEVICE static constexpr int bytes() { return gemm_sm90::stage_bytes(config); }
  QUARRY_DEVICE void load(arch::SharedAddress stage, arch::SharedAddress landed, int /*k*/) {
    a_.load(stage, landed, walk_);
    b_.load(stage + gemm_sm90::box_a(config).bytes(), landed, walk_);
    walk_.advance(config.tile.k);
  }

 private:
  TapWalk walk_;
  WindowRows<gemm_sm90::box_a(config)> a_;
  FilterTaps<gemm_sm90::box_b(config)> b_;
};

/// The same of wgrad, whose A is a matrix.
template <gemm_sm90::Config config>
class TensorSources<config, Direction::wgrad> {
 public:
  QUARRY_DEVICE TensorSources(const TensorGemmParams& params, const TileWork& work, const ClusterPlace& place)
      : a_(params.a, part_of_a(params.gemm.a, work, config.tile), place.n,
           gemm_sm90::sharers_of_a<config>(place)),
        b_(params.b, windows_of(params), params.gemm.n, work, place.m,
           gemm_sm90::sharers_of_b<config>(place)) {}

  QUARRY_DEVICE static constexpr int bytes() { return gemm_sm90::stage_bytes(config); }
  QUARRY_DEVICE void load(arch::SharedAddress stage, arch::SharedAddress landed, int k) const {
    a_.load(stage, landed, k);
    b_.load(stage + gemm_sm90::box_a(config).bytes(), landed, k);
  }

 private:
  gemm_sm90::BoxSource<gemm_sm90::box_a(config)> a_;
  WindowColumns<gemm_sm90::box_b(config)> b_;
};

}  // namespace quarry::conv2d_sm90
