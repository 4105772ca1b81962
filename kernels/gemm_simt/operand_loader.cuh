/// Copies of operands through registers: how a block's threads share a tile's items, and what they read.
#pragma once

#include "arch/arch.hpp"
#include "common/element.cuh"
#include "common/element_pointer.cuh"
#include "common/interleaved.hpp"
#include "common/operand_part.cuh"
#include "gemm_simt/config.hpp"
#include "gemm_simt/zeros.cuh"

namespace quarry::gemm_simt {

/// An item from `packed` neighbours along K, `k_stride` elements apart, of which the first
/// `count` exist; the others are zero. One element becomes what is computed with; four bytes share a word,
/// the first one in its lowest bits.
/// @param is_word whether four bytes can be read at once
template <class Item, int packed, class Pointer>
QUARRY_DEVICE Item load_item(Pointer first, long long k_stride, int count, bool is_word) {
  if constexpr (packed == 1) {
    return to_compute<Item>(load_element(first));
  } else {
    if (is_word && count >= packed) return {arch::global_load<unsigned>(first)};
    unsigned word = 0;
    QUARRY_UNROLL
    for (int i = 0; i < packed; ++i) {
      if (i < count) {
        const auto byte = arch::global_load<unsigned char>(first + i * k_stride);
        word |= static_cast<unsigned>(byte) << 8 * i;
      }
    }
    return {word};
  }
}

/// How an operand lies in memory, along its extent and along K.
struct Walk {
  bool k_contiguous;  ///< neighbours along K are neighbours in memory: consecutive threads walk K
  /// Which of the two is grouped (common/interleaved.hpp), if any; tiles are multiples of 32 along it.
  bool extent_grouped;
  bool k_grouped;
};

constexpr Walk walk_a(Layout a) { return {has_contiguous_rows(a), groups_rows(a), groups_columns(a)}; }
constexpr Walk walk_b(Layout b) { return walk_a(transposed(b)); }

/// The items of an operand's tile as the threads of a block share them: each has `rounds` of them.
///
/// @tparam k_contiguous neighbours along K are neighbours in memory: consecutive threads walk K
template <int extent, int steps, int threads, bool k_contiguous>
struct TileItems {
  static constexpr int items = extent * steps;
  static constexpr int rounds = (items + threads - 1) / threads;

  /// An item of the tile; where a block has more threads than the last round has items, it may not exist.
  struct Place {
    int along_extent;
    int step;
    bool exists;
  };
  QUARRY_DEVICE static Place place_of(int round) {
    const int index = round * threads + arch::thread_index();
    const bool exists = items % threads == 0 || index < items;
    if (k_contiguous) return {index / steps, index % steps, exists};
    return {index % extent, index / extent, exists};
  }

  /// Writes a thread's items to a stage.
  template <class Item>
  QUARRY_DEVICE static void put(arch::SharedAddress stage, const Item (&fetched)[rounds]) {
    QUARRY_UNROLL
    for (int i = 0; i < rounds; ++i) {
      const Place place = place_of(i);
      if (!place.exists) continue;
      const int item = place.step * line_elements(extent) + place.along_extent;
      arch::shared_store(stage + item * static_cast<int>(sizeof(Item)), fetched[i]);
    }
  }
};

/// One operand of a block: walks its K tiles, from global memory through registers into a stage, where item
/// (extent, step along K) of a tile lies at step * line_elements(extent) + extent.
///
/// @tparam Item what is computed with: an element, or `packed` of them along K
/// @tparam steps items along K of a tile
/// @tparam walk how it lies in memory
/// @tparam gated of gated pairs (gated_part_of_b): half a tile, then the other half
/// @tparam Zeros TileZeros where elements have zero points
template <class Stored, class Item, int packed, int extent, int steps, int threads, Walk walk,
          bool gated = false, class Zeros = NoZeros>
class OperandLoader : Zeros {  // a base, which takes no room where it is empty
 public:
  /// @param k_left elements of K in the block's work
  QUARRY_DEVICE OperandLoader(const OperandPart& part, int k_left, const Zeros& zeros = {})
      : Zeros(zeros),
        next_(first_of(part)),
        extent_stride_(part.extent.stride),
        k_stride_(part.k.stride),
        extent_left_(part.extent.end - part.extent.first),
        k_left_(k_left),
        words_aligned_(walk.k_grouped
                           ? is_multiple_of_4(next_, k_stride_)
                           : walk.k_contiguous && k_stride_ == 1 && is_multiple_of_4(next_, extent_stride_)) {
    if constexpr (gated) second_half_ = part.extent.end - extent / 2;
  }

  /// Reads the next tile into registers; what lies outside the operand is zero.
  QUARRY_DEVICE void fetch() {
    QUARRY_UNROLL
    for (int i = 0; i < Items::rounds; ++i) {
      const auto place = Items::place_of(i);
      fetched_[i] = {};
      const int along_k = place.step * packed;
      const bool is_second = gated && place.along_extent >= extent / 2;
      const int along_extent = is_second ? place.along_extent - extent / 2 : place.along_extent;
      if (place.exists && along_extent < extent_left_ && along_k < k_left_) {
        const int column = is_second ? place.along_extent + second_half_ : place.along_extent;
        const Pointer from = next_ + (distance<walk.extent_grouped>(column, extent_stride_) +
                                      distance<walk.k_grouped>(along_k, k_stride_));
        const Item item =
            load_item<Item, packed>(from, walk.k_grouped ? 1 : k_stride_, k_left_ - along_k, words_aligned_);
        fetched_[i] = less_zero(item, static_cast<const Zeros&>(*this), place.along_extent, along_k);
      }
    }
    advance(static_cast<Zeros&>(*this), steps * packed);
    next_ += distance<walk.k_grouped>(steps * packed, k_stride_);
    k_left_ -= steps * packed;
  }

  /// Writes the fetched tile to a stage.
  QUARRY_DEVICE void put(arch::SharedAddress stage) const { Items::put(stage, fetched_); }

 private:
  using Items = TileItems<extent, steps, threads, walk.k_contiguous>;
  using Pointer = typename ElementPointer<Stored>::Type;

  /// The first element of the first tile.
  QUARRY_DEVICE static Pointer first_of(const OperandPart& part) {
    return element_at<Stored>(
        part.matrix, part.batch,
        distance<walk.extent_grouped>(part.extent.base + part.extent.first, part.extent.stride) +
            distance<walk.k_grouped>(part.k.base + part.k.first, part.k.stride));
  }

  /// Elements of half a byte are read one by one.
  template <class T>
  QUARRY_DEVICE static bool is_multiple_of_4(HalfBytePointer<T>, long long) {
    return false;
  }
  QUARRY_DEVICE static bool is_multiple_of_4(const Stored* first, long long stride) {
    const auto address = reinterpret_cast<unsigned long long>(first);
    return (address | static_cast<unsigned long long>(stride)) % 4 == 0;
  }

  Pointer next_;
  long long extent_stride_;
  long long k_stride_;
  int extent_left_;
  int k_left_;
  /// Columns more from a first half to its second half than in the tile.
  int second_half_ = 0;
  /// Whether the bytes of every item of this operand are an aligned word of memory.
  bool words_aligned_;
  Item fetched_[Items::rounds];
};

}  // namespace quarry::gemm_simt
