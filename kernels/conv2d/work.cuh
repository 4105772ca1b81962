/// Which part of a convolution a block computes.
#pragma once

#include "common/tile_scheduler.cuh"
#include "conv2d/places.hpp"

namespace quarry {

/// A group of a convolution: a product of its own, whose outputs lie among the others' outputs.
template <Direction direction>
struct ConvolutionGroup {
  const GemmParams& params;
  int batch;  ///< the group

  QUARRY_DEVICE int m() const { return params.m; }
  QUARRY_DEVICE int n() const { return params.n; }
  QUARRY_DEVICE int k() const { return params.k; }
  QUARRY_DEVICE OperandBase out() const {
    return {0, first_row(direction, params, batch), first_column(direction, params, batch)};
  }
};

template <Direction direction>
using GroupWork = WorkOf<ConvolutionGroup<direction>>;

/// The same piece of work, whose batch entry is a group.
template <Direction direction>
QUARRY_DEVICE GroupWork<direction> of_group(const TileWork& work) {
  return {{work.params, work.batch}, work.slice, work.tile_m, work.tile_n, work.first_k_tile, work.k_tiles};
}

}  // namespace quarry
