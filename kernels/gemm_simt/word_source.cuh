/// Asynchronous copies of f32 operands, a word at a time: cp.async moves 4 bytes at least, so that operands
/// of any stride and alignment go to shared memory without a register, and are transposed on the way.
#pragma once

#include "arch/arch.hpp"
#include "common/element_pointer.cuh"
#include "common/operand_part.cuh"
#include "gemm_simt/config.hpp"

namespace quarry::gemm_simt {

/// One operand of a block: walks its K tiles and copies them into stages, where the word (extent, step along
/// K) of a tile lies at step * line_elements(extent) + extent. What lies outside the operand becomes zero.
///
/// @tparam k the tile's extent along K
/// @tparam k_contiguous neighbours along K are neighbours in memory: consecutive threads walk K
/// @tparam gated of gated pairs (gated_part_of_b): half a tile, then the other half
template <int extent, int k, int threads, bool k_contiguous, bool gated>
class WordSource {
 public:
  /// @param k_left elements of K in the block's work
  QUARRY_DEVICE WordSource(const OperandPart& part, int k_left)
      : extent_left_(part.extent.end - part.extent.first), k_left_(k_left) {
    const Place first = place();
    const long long extent_bytes = part.extent.stride * word;
    const long long k_bytes = part.k.stride * word;
    jump_ = gated ? (part.extent.end - extent / 2) * extent_bytes : 0;
    next_ = reinterpret_cast<const char*>(
                element_at<float>(part.matrix, part.batch,
                                  (part.extent.base + part.extent.first) * part.extent.stride +
                                      (part.k.base + part.k.first) * part.k.stride)) +
            first.along_extent * extent_bytes + first.along_k * k_bytes;
    if (is_second(first.along_extent)) next_ += jump_;
    round_bytes_ = rounds_along_k ? threads / extent * k_bytes : round_extent * extent_bytes;
    wrap_bytes_ = k_bytes - (rounds_of_k - 1) * round_bytes_;
    tile_bytes_ = k * k_bytes;
    shared_offset_ = (first.along_k * line_elements(extent) + first.along_extent) * word;
    is_whole_ = extent_left_ >= (gated ? extent / 2 : extent);
  }

  /// Starts the copies of the next tile into a stage; behind the last one, zeros.
  QUARRY_DEVICE void copy(arch::SharedAddress stage) {
    // Most tiles are whole. They need no comparison for each word.
    if (is_whole_ && k_left_ >= k) {
      copy_words(stage, [](int) { return static_cast<int>(word); });
    } else {
      copy_words(stage, [&](int round) { return exists(round) ? static_cast<int>(word) : 0; });
    }
    next_ += tile_bytes_;
    k_left_ -= k;
  }

 private:
  static constexpr int word = 4;
  static constexpr int rounds = extent * k / threads;
  /// Whether rounds go along K; otherwise along the extent.
  static constexpr bool rounds_along_k = !k_contiguous && threads >= extent;
  /// Rounds that go along the extent before one goes along K.
  static constexpr int rounds_of_k = rounds_along_k || k_contiguous ? rounds : extent / threads;
  static constexpr int round_extent = k_contiguous ? threads / k : threads;
  static_assert(rounds * threads == extent * k);

  /// Where a word lies in the tile.
  struct Place {
    int along_extent;
    int along_k;
  };
  /// The thread's first word, and how far from it its word of a round is.
  QUARRY_DEVICE static Place place() {
    const int thread = arch::thread_index();
    if (k_contiguous) return {thread / k, thread % k};
    return {thread % extent, thread / extent};
  }
  static constexpr Place step(int round) {
    if (rounds_along_k) return {0, round * (threads / extent)};
    return {round % rounds_of_k * round_extent, round / rounds_of_k};
  }
  QUARRY_DEVICE static constexpr bool is_second(int along_extent) {
    return gated && along_extent >= extent / 2;
  }

  template <class ValidBytes>
  QUARRY_DEVICE void copy_words(arch::SharedAddress stage, const ValidBytes& valid_bytes) const {
    const char* from = next_;
    QUARRY_UNROLL
    for (int round = 0; round < rounds; ++round) {
      const Place at = step(round);
      const int to = shared_offset_ + (at.along_k * line_elements(extent) + at.along_extent) * word;
      // A thread whose first word is of the second half has begun there, and no round of it goes further.
      const char* const address = is_second(at.along_extent) ? from + jump_ : from;
      arch::copy_async<word>(stage + to, address, valid_bytes(round));
      from += (round + 1) % rounds_of_k == 0 ? wrap_bytes_ : round_bytes_;
    }
  }

  /// Whether the thread's word of a round lies in the operand.
  QUARRY_DEVICE bool exists(int round) const {
    const Place first = place();
    const Place at = step(round);
    const int along_extent = first.along_extent + at.along_extent;
    const int in_half = is_second(along_extent) ? along_extent - extent / 2 : along_extent;
    return in_half < extent_left_ && first.along_k + at.along_k < k_left_;
  }

  const char* next_;
  long long round_bytes_;  ///< from a round to the next one
  long long wrap_bytes_;   ///< from the last round along the extent to the first one of the next step along K
  long long tile_bytes_;
  long long jump_;  ///< more from a first half to its second half than in the tile
  int shared_offset_;
  int extent_left_;
  int k_left_;
  bool is_whole_;  ///< no word of a tile lies outside along the extent
};

}  // namespace quarry::gemm_simt
