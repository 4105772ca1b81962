/// Which tiles of which groups a block computes. Sizes are read here, on the device.
#pragma once

#include "arch/arch.hpp"
#include "common/tile_scheduler.cuh"
#include "grouped_gemm/params.hpp"

namespace quarry {

/// A group as a problem (see BatchEntry of common/tile_scheduler.cuh).
/// @tparam Params have `gemm` and `groups`, as GroupedGemmParams
template <class Params>
struct GroupEntry {
  static constexpr bool has_neighbours = true;

  const Params& params;
  int batch;  ///< the group
  int first;  ///< as in its span
  int count;

  QUARRY_DEVICE int m() const { return is(GroupForm::ragged_k) ? params.gemm.m : count; }
  QUARRY_DEVICE int n() const { return params.gemm.n; }
  QUARRY_DEVICE int k() const { return is(GroupForm::ragged_k) && params.gemm.k > 0 ? count : params.gemm.k; }
  QUARRY_DEVICE OperandBase a() const {
    if (is(GroupForm::ragged_k)) return {0, 0, first};
    return out();
  }
  QUARRY_DEVICE OperandBase b() const {
    if (is(GroupForm::ragged_k)) return {0, first, 0};
    return {batch, 0, 0};
  }
  QUARRY_DEVICE OperandBase out() const {
    if (is(GroupForm::ragged_k)) return {batch, 0, 0};
    return {is(GroupForm::masked) ? batch : 0, first, 0};
  }
  /// Of the tensors of an expression: each group may have its own.
  QUARRY_DEVICE int tensor_entry() const { return batch; }

 private:
  QUARRY_DEVICE bool is(GroupForm form) const { return params.groups.form == form; }
};
using GroupWork = WorkOf<GroupEntry<GroupedGemmParams>>;

/// Elements of K in the work: all that the group has (see k_elements of common/tile_scheduler.cuh).
QUARRY_DEVICE int k_elements(const GroupWork& work, int /*tile_k*/) { return work.k(); }

/// Walks over the tiles of all spans, in the order of the spans; within one, down the columns of tiles, so
/// that blocks which run together share columns of B. A block reads each size once.
class GroupWalk {
 public:
  QUARRY_DEVICE GroupWalk(const GroupedGemmParams& params, Tile tile)
      : params_(params), tile_(tile), spans_(span_count(params.groups)) {
    read();
  }

  /// Goes on to the tile of a position, no earlier than the one before; false behind the last tile.
  QUARRY_DEVICE bool seek(long long position) {
    while (number_ < spans_ && position - first_tile_ >= tiles()) {
      first_tile_ += tiles();
      ++number_;
      read();
    }
    in_span_ = position - first_tile_;
    return number_ < spans_;
  }

  /// Whether the tile is of rows that become 0.
  QUARRY_DEVICE bool is_outside() const { return span_.is_outside; }

  /// The tile as work, of all of K.
  QUARRY_DEVICE GroupWork work() const {
    GroupWork work = {{params_, span_.group, span_.first, span_.count}, 0, 0, 0, 0, 0};
    work.tile_m = static_cast<int>(in_span_ % tiles_m_);
    work.tile_n = static_cast<int>(in_span_ / tiles_m_);
    work.k_tiles = parts(work.k(), tile_.k);
    return work;
  }

 private:
  QUARRY_DEVICE static int parts(int extent, int size) { return extent / size + (extent % size != 0); }

  QUARRY_DEVICE long long tiles() const { return static_cast<long long>(tiles_m_) * params_.gemm.tiles_n; }

  /// Reads the span of `number_`. Behind the last one there is no size to be read, and what it says of rows
  /// is not used.
  QUARRY_DEVICE void read() {
    const GroupParams& groups = params_.groups;
    const int group = group_of_span(groups, number_);
    const int size = group < groups.groups ? arch::global_load<int>(groups.sizes + group) : 0;
    span_ = group_span(groups, number_, size, end_);
    end_ = span_.first + span_.count;
    tiles_m_ = groups.form == GroupForm::ragged_k ? params_.gemm.tiles_m : parts(span_.count, tile_.m);
  }

  const GroupedGemmParams& params_;
  Tile tile_;
  long long spans_;
  long long number_ = 0;
  long long first_tile_ = 0;  ///< position of the span's first tile
  long long in_span_ = 0;     ///< the tile, counted from there
  int end_ = 0;
  int tiles_m_ = 0;
  GroupSpan span_ = {};
};

}  // namespace quarry
