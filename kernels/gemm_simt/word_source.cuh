/// Asynchronous copies of f32 operands, a word at a time: cp.async moves 4 bytes at least, so that operands
/// of any stride and alignment go to shared memory without a register, and are transposed on the way.
#pragma once

#include "arch/arch.hpp"
#include "common/element_pointer.cuh"
#include "common/operand_part.cuh"
#include "gemm_simt/config.hpp"

namespace quarry::gemm_simt {

/// @param power of two
constexpr int exponent(int power) { return power > 1 ? 1 + exponent(power / 2) : 0; }

/// One operand of a block: walks its K tiles and copies them into stages, where the word (extent, step along
/// K) of a tile lies at step * line_elements(extent) + extent. What lies outside the operand becomes zero.
/// Nothing branches here, so that copies stand among products, which hide their addresses and their waits.
///
/// @tparam k the tile's extent along K
/// @tparam k_contiguous neighbours along K are neighbours in memory: consecutive threads walk K
/// @tparam swapped each of two neighbours along the extent lies in the place of the other one
/// @tparam gated of gated pairs (gated_part_of_b): half a tile, then the other half
template <int extent, int k, int threads, bool k_contiguous, bool swapped, bool gated>
class WordSource {
 public:
  /// @param k_left elements of K in the block's work
  QUARRY_DEVICE WordSource(const OperandPart& part, int k_left) {
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
    wrap_bytes_ = steps_of_wrap * k_bytes - (rounds_of_k - 1) * round_bytes_;
    const int along_extent = swapped ? first.along_extent ^ 1 : first.along_extent;
    shared_offset_ = (first.along_k * line_elements(extent) + along_extent) * word;
    inside_ = rounds_inside(first.along_extent, part.extent.end - part.extent.first);
    k_left_ = k_left - first.along_k;
  }

  /// Starts the copies of the next tile into a stage; behind the last one, zeros.
  QUARRY_DEVICE void copy(arch::SharedAddress stage) {
    const unsigned present = inside_ & rounds_within(k_left_);
    QUARRY_UNROLL
    for (int round = 0; round < rounds; ++round) {
      const Place at = step(round);
      const int to = shared_offset_ + (at.along_k * line_elements(extent) + at.along_extent) * word;
      // A thread whose first word is of the second half has begun there, and no round of it goes further.
      const char* const address = is_second(at.along_extent) ? next_ + jump_ : next_;
      arch::copy_async_or_zero<word>(stage + to, address, present & 1U << round);
      // Opaque, because the compiler would compute a multiple of a stride for each word, in more
      // instructions.
      next_ = arch::opaque(next_ + ((round + 1) % rounds_of_k == 0 ? wrap_bytes_ : round_bytes_));
    }
    k_left_ -= k;
  }

 private:
  static constexpr int word = 4;
  static constexpr int rounds = extent * k / threads;
  /// Whether rounds go along K; otherwise along the extent.
  static constexpr bool rounds_along_k = !k_contiguous && threads >= extent;
  /// Rounds that go along the extent before one goes along K.
  static constexpr int rounds_of_k = rounds_along_k || k_contiguous ? rounds : extent / threads;
  /// Steps along K from the first of these rounds to the one behind them.
  static constexpr int steps_of_wrap = rounds_along_k || k_contiguous ? k : 1;
  static constexpr int round_extent = k_contiguous ? threads / k : threads;
  static_assert(rounds * threads == extent * k);
  static_assert(rounds <= most_words_copied, "a round has a bit");
  static_assert(!swapped || round_extent % 2 == 0, "a thread's words are all the first or the second of two");

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

  /// A bit for each round whose word lies in the operand along its extent. @param extent_left of it
  QUARRY_DEVICE static unsigned rounds_inside(int first, int extent_left) {
    unsigned rounds_there = 0;
    QUARRY_UNROLL
    for (int round = 0; round < rounds; ++round) {
      const int along_extent = first + step(round).along_extent;
      const int in_half = is_second(along_extent) ? along_extent - extent / 2 : along_extent;
      if (in_half < extent_left) rounds_there |= 1U << round;
    }
    return rounds_there;
  }

  /// A bit for each round whose word is one of the next `k_left` along K, from the thread's first one on.
  QUARRY_DEVICE static unsigned rounds_within(int k_left) {
    if constexpr (k_contiguous) {
      return k_left > 0 ? ~0U : 0;
    } else {
      constexpr int k_step = rounds_along_k ? threads / extent : 1;
      constexpr int rounds_of_step = rounds_along_k ? 1 : rounds_of_k;
      constexpr int shift = exponent(k_step);
      static_assert(1 << shift == k_step);
      const int steps = ((k_left - 1) >> shift) + 1;
      const int count = steps < 0 ? 0 : steps < k / k_step ? steps : k / k_step;
      if constexpr (rounds == 32) {  // a shift by 32 is undefined
        return count == 0 ? 0 : ~0U >> (32 - count * rounds_of_step);
      } else {
        return (1U << count * rounds_of_step) - 1;
      }
    }
  }

  const char* next_;
  long long round_bytes_;  ///< from a round to the next one
  long long wrap_bytes_;   ///< from the last of rounds_of_k to the first of the next ones
  long long jump_;         ///< more from a first half to its second half than in the tile
  int shared_offset_;
  unsigned inside_;  ///< rounds_inside
  int k_left_;       ///< elements of K from the thread's next word on
};

}  // namespace quarry::gemm_simt
