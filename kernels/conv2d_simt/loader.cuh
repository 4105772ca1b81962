/// How a block gets the tiles of an operand that is gathered from a tensor.
#pragma once

#include "conv2d/gathered_part.hpp"
#include "gemm_simt/kernel.cuh"

namespace quarry::conv2d_simt {

/// One operand of a block: walks its K tiles, from global memory through registers into a stage, as
/// gemm_simt::OperandLoader does. What lies outside of an image is zero.
///
/// @tparam Matrix MatrixA or MatrixB of a direction
/// @tparam runs_along_k neighbours along K are neighbouring channels, as far as these go
template <class Matrix, class Stored, class Item, int packed, int extent, int steps, int threads,
          bool runs_along_k>
class GatheringLoader {
 public:
  QUARRY_DEVICE GatheringLoader(const Conv2dParams& params, const GatheredPart& part)
      : params_(params),
        first_(static_cast<const Stored*>(part.tensor.data) + part.group_offset),
        k_next_(part.k_first),
        k_end_(part.k_end),
        words_aligned_(packed > 1 && runs_along_k && has_words(params, part)) {
    QUARRY_UNROLL
    for (int i = 0; i < Items::rounds; ++i) {
      const auto place = Items::place_of(i);
      const int at = part.extent_first + place.along_extent;
      exists_[i] = place.exists && at < part.extent_end;
      lines_[i] = exists_[i] ? Matrix::along_extent(params, at) : PlacePart{};
    }
  }

  /// Reads the next tile into registers; what lies outside the operand is zero.
  QUARRY_DEVICE void fetch() {
    QUARRY_UNROLL
    for (int i = 0; i < Items::rounds; ++i) {
      const int k = k_next_ + Items::place_of(i).step * packed;
      fetched_[i] = {};
      if (exists_[i] && k < k_end_) fetched_[i] = load(lines_[i], k);
    }
    k_next_ += steps * packed;
  }

  /// Writes the fetched tile to a stage.
  QUARRY_DEVICE void put(arch::SharedAddress stage) const { Items::put(stage, fetched_); }

 private:
  using Items = gemm_simt::TileItems<extent, steps, threads, runs_along_k>;

  /// Whether the four channels from each multiple of four on are an aligned word of memory.
  QUARRY_DEVICE static bool has_words(const Conv2dParams& params, const GatheredPart& part) {
    const MatrixParams& t = part.tensor;
    const auto address = reinterpret_cast<unsigned long long>(t.data);
    const long long all =
        part.group_offset | t.batch_stride | t.row_stride | t.column_stride | params.windows.channels.size;
    return (address | static_cast<unsigned long long>(all)) % 4 == 0;
  }

  /// The item whose first element is at k of a line.
  QUARRY_DEVICE Item load(const PlacePart& line, int k) const {
    if constexpr (packed == 1) {
      const long long place = Matrix::place(params_, line, Matrix::along_k(params_, k));
      if (place == no_place) return {};
      return to_compute<Item>(arch::global_load<Stored>(first_ + place));
    } else {
      if (words_aligned_) {
        const long long place = Matrix::place(params_, line, Matrix::along_k(params_, k));
        return {place == no_place ? 0 : arch::global_load<unsigned>(first_ + place)};
      }
      // What finds a byte is long.
      unsigned word = 0;
      QUARRY_ROLLED
      for (int i = 0; i < packed; ++i) {
        if (k + i >= k_end_) continue;
        const long long place = Matrix::place(params_, line, Matrix::along_k(params_, k + i));
        if (place == no_place) continue;
        word |= static_cast<unsigned>(arch::global_load<unsigned char>(first_ + place)) << 8 * i;
      }
      return {word};
    }
  }

  const Conv2dParams& params_;
  const Stored* first_;
  int k_next_;
  int k_end_;
  bool words_aligned_;
  bool exists_[Items::rounds];
  PlacePart lines_[Items::rounds];
  Item fetched_[Items::rounds];
};

}  // namespace quarry::conv2d_simt
