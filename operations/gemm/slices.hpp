/// Which outputs the host executor computes at once, and in which order it adds their sums over K.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/stream_k.hpp"
#include "common/tile_order.hpp"
#include "operations/gemm/executor.hpp"

namespace quarry::host {

/// The block of outputs [row, row + rows) x [column, column + columns) of one batch entry, within one tile
/// where tiles are summed in different orders.
struct Block {
  int batch;
  int row;
  int column;
  int rows;
  int columns;
};

/// K tiles whose products are summed in one go.
struct Slice {
  std::int64_t first;
  std::int64_t count;
};

/// The slices of K that the blocks of a kernel sum, in the order in which their sums are added.
class Slices {
 public:
  /// @param blocks of the grid
  Slices(const HostKernel& kernel, const GemmParams& params, unsigned blocks)
      : params_(params), all_((std::int64_t{params_.k} + kernel.tile_k - 1) / kernel.tile_k) {
    if (params_.mode != Mode::stream_k) return;
    tile_m_ = kernel.tile_m;
    tile_n_ = kernel.tile_n;
    const unsigned tiles = static_cast<unsigned>(params_.batch) * static_cast<unsigned>(params_.tiles_m) *
                           static_cast<unsigned>(params_.tiles_n);
    shares_ = stream_shares(params_.mode, tiles, static_cast<int>(all_), blocks);
  }

  /// Rows and columns of which a block may not cross multiples; 0: it may be anywhere.
  int tile_m() const { return tile_m_; }
  int tile_n() const { return tile_n_; }

  /// Calls `use` with the slices of a block of outputs.
  template <class Use>
  void for_each(const Block& block, const Use& use) const {
    if (tile_m_ > 0) {
      const unsigned tile = tile_position(params_, block.batch, block.row / tile_m_, block.column / tile_n_);
      if (tile >= shares_.whole) return for_each_part(tile - shares_.whole, use);
    }
    const std::int64_t length = params_.slices > 1 ? params_.k_tiles_per_slice : all_;
    for (int slice = 0; slice < params_.slices; ++slice) {
      const std::int64_t first = std::min(all_, slice * length);
      use(Slice{first, std::min(all_, first + length) - first});
    }
  }

 private:
  /// The parts of a tile that successive blocks share.
  template <class Use>
  void for_each_part(unsigned tile, const Use& use) const {
    const std::int64_t start = tile * all_;
    for (std::int64_t at = start; at < start + all_;) {
      const std::int64_t end = std::min<std::int64_t>(start + all_, shares_.begin(shares_.block_of(at) + 1));
      use(Slice{at - start, end - at});
      at = end;
    }
  }

  const GemmParams& params_;
  std::int64_t all_;
  int tile_m_ = 0;
  int tile_n_ = 0;
  StreamShares shares_ = {};
};

/// One extent of the outputs cut into blocks of at most `most`, none of which crosses a multiple of `tile`.
class Cuts {
 public:
  /// @param tile 0: there is nothing to keep to
  Cuts(int extent, int tile, int most)
      : extent_(extent), most_(most), tile_(tile > 0 ? tile : most), in_tile_((tile_ + most - 1) / most) {}

  std::int64_t count() const { return (extent_ + tile_ - 1) / tile_ * in_tile_; }

  /// Where block i begins, and how long it is: not above 0 where it lies outside.
  std::int64_t begin(std::int64_t i) const { return i / in_tile_ * tile_ + i % in_tile_ * most_; }
  std::int64_t length(std::int64_t i) const {
    return std::min({most_, tile_ - i % in_tile_ * most_, extent_ - begin(i)});
  }

 private:
  std::int64_t extent_;
  std::int64_t most_;
  std::int64_t tile_;
  std::int64_t in_tile_;
};

}  // namespace quarry::host
